"""Search of the web and of papers, as plugins provide it to each other."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from datetime import date
from itertools import islice
from math import isfinite
from typing import TYPE_CHECKING, Literal, Protocol, get_args
from urllib.parse import urlsplit

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.text.visible_text import visible, visible_line

if TYPE_CHECKING:
    from vr_kernel.call import Call

Recency = Literal["day", "week", "month", "year"]
"""The age of what is searched: published within the last day, week, month or year."""
MOST_RESULTS = 100
QUERY_CHARS = 2000
URL_CHARS = 2000
TITLE_CHARS = 300
SNIPPET_CHARS = 2000
RESPONSE_CHARS = 50_000
MOST_DETAILS = 20
MOST_ROWS = 1000
"""Results of a service that are looked at."""
_HOST = re.compile(r"[^\s/:@?#.]+(\.[^\s/:@?#.]+)+")


@dataclass(frozen=True, slots=True)
class WebQuery:
    """A search.

    Args:
        query: words or a question.
        limit: the most results, 1 to 100.
        recency: only what is not older; any age when left out.
        domains: only these hosts and those below them, such as `example.org`; all when empty.
        excluded_domains: none of these hosts, nor those below them.

    Raises:
        VrError: INVALID_INPUT.
    """

    query: str
    limit: int = 10
    recency: Recency | None = None
    domains: tuple[str, ...] = ()
    excluded_domains: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Refuse what no service could be asked."""
        if not visible_line(self.query) or len(self.query) > QUERY_CHARS:
            raise _invalid(f"A query has 1 to {QUERY_CHARS} characters.")
        if not 1 <= self.limit <= MOST_RESULTS:
            raise _invalid(f"The limit of results is 1 to {MOST_RESULTS}.")
        if self.recency not in (None, *get_args(Recency)):
            raise _invalid(f"The recency is one of {', '.join(get_args(Recency))}.")
        for domain in (*self.domains, *self.excluded_domains):
            if not _HOST.fullmatch(domain):
                raise _invalid(f"{visible_line(domain, TITLE_CHARS)!r} is not a domain.")

    def allows(self, url: str) -> bool:
        """Check if a result at that address may be returned: http or https, of these domains.

        One with a name or a password before its host is not: it may be a secret, or a disguise.
        """
        try:
            parts = urlsplit(url)
            host = (parts.hostname or "").rstrip(".")
        except ValueError:
            return False
        plain = len(url) <= URL_CHARS and not re.search(r"\s", url) and visible(url) == url
        if parts.scheme not in ("http", "https") or not host or "@" in parts.netloc or not plain:
            return False
        chosen = not self.domains or any(_is_below(host, each) for each in self.domains)
        return chosen and not any(_is_below(host, each) for each in self.excluded_domains)


@dataclass(frozen=True, slots=True)
class WebResult:
    """A page or a paper that was found; its texts are others' words.

    Args:
        title: its name.
        url: where it is.
        snippet: an excerpt, or an abstract.
        published: when, as far as the service says.
        details: what else it says, such as `authors`, `doi` or `citations`.
    """

    title: str
    url: str
    snippet: str = ""
    published: date | None = None
    details: Mapping[str, str | float] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class WebResults:
    """The results of a search, best first.

    Args:
        results: at most as many as were asked for; equal addresses are not joined.
        response: the answer that a service wrote from them; often none.
        usage: what that cost in tokens, where it was no request of `services.models`.
        notes: what was not done as asked, such as a recency that the service does not know.
    """

    results: tuple[WebResult, ...] = ()
    response: str = ""
    usage: Usage | None = None
    notes: tuple[str, ...] = ()

    @classmethod
    def bounded(
        cls,
        query: WebQuery,
        found: Iterable[WebResult],
        *,
        response: str = "",
        usage: Usage | None = None,
        notes: Iterable[str] = (),
    ) -> WebResults:
        """Keep of what a service sent what was asked for, without unseen signs, and cut to size.

        A result without an http or https address, or of a domain that was not asked for, is left
        out; of the others the first `limit` stay, without those of their parts that are of other
        types than they should be.
        """
        rows = (each for each in islice(found, MOST_ROWS) if isinstance(each, WebResult))
        kept = (_cleaned(each) for each in rows if _text(each.url) and query.allows(each.url))
        said = visible(_text(response)[:RESPONSE_CHARS])
        told = tuple(visible_line(note, SNIPPET_CHARS) for note in islice(notes, MOST_DETAILS))
        return cls(tuple(islice(kept, query.limit)), said, usage, told)


class SearchProvider(Protocol):
    """Searches the web, or papers. Offer it with `Provider(…, of_call=True)`.

    It is made for each call, with its plugin's services for the caller: models, cache and http
    work on the caller's behalf.
    """

    name: str
    finds: frozenset[str]
    """Of `web` and `papers`; they are seldom asked together."""

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return what was found, made by `WebResults.bounded`; nothing found is no error.

        Args:
            call: the call that asks, for its steps, notes and progress; its services are those of
                the plugin that asks.
            query: what is searched.

        Raises:
            VrError: AUTH without a key; QUOTA; UNAVAILABLE, UNSUPPORTED or INVALID_INPUT for what
                the service says.
        """


def _cleaned(found: WebResult) -> WebResult:
    title = visible_line(_text(found.title)[: TITLE_CHARS * 4], TITLE_CHARS) or found.url
    snippet = visible_line(_text(found.snippet)[: SNIPPET_CHARS * 4], SNIPPET_CHARS)
    published = found.published if isinstance(found.published, date) else None
    details = _details(found.details) if isinstance(found.details, Mapping) else ()
    return WebResult(title, found.url, snippet, published, dict(details))


def _text(given: object) -> str:
    """A text as it is; empty for anything else, such as the null of a service."""
    return given if isinstance(given, str) else ""


def _details(given: Mapping[str, str | float]) -> Iterator[tuple[str, str | float]]:
    plain = ((name, value) for name, value in given.items() if _text(name) and _is_plain(value))
    for name, value in islice(plain, MOST_DETAILS):
        said = visible_line(value[:SNIPPET_CHARS], TITLE_CHARS) if isinstance(value, str) else value
        yield visible_line(name[:TITLE_CHARS], TITLE_CHARS), said


def _is_plain(value: object) -> bool:
    """Check for a text or a number that JSON can hold."""
    return isinstance(value, str | int) or (isinstance(value, float) and isfinite(value))


def _is_below(host: str, domain: str) -> bool:
    return f".{host}".casefold().endswith(f".{domain}".casefold())


def _invalid(problem: str) -> VrError:
    return VrError(problem, Code.INVALID_INPUT, hint="Search for words, in domains such as a.org.")
