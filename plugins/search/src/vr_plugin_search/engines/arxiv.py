"""arXiv: `GET /query`, which answers with an Atom feed."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from datetime import UTC, datetime
from typing import TYPE_CHECKING, ClassVar

from vr_kernel import Code, VrError

from vr_plugin_search.addresses.identifiers import PaperId, Scheme, identifier_of_url
from vr_plugin_search.engines.answers import day
from vr_plugin_search.engines.failures import unreadable
from vr_plugin_search.engines.paper_engine import PaperEngine, gathered
from vr_plugin_search.engines.queries import cut, first_day
from vr_plugin_search.engines.service_rows import ARXIV
from vr_plugin_search.papers.making import make_paper
from vr_plugin_search.papers.paper_query import FoundPapers, PaperQuery
from vr_plugin_search.results.papers import Paper

if TYPE_CHECKING:
    from xml.etree.ElementTree import Element

MOST = 100
MOST_WORDS = 12
ATOM, OWN = "{http://www.w3.org/2005/Atom}", "{http://arxiv.org/schemas/atom}"
CATEGORIES: Mapping[str, tuple[str, ...]] = {
    "Biology": ("q-bio.*",),
    "Computer Science": ("cs.*",),
    "Economics": ("econ.*", "q-fin.*"),
    "Engineering": ("eess.*",),
    "Materials Science": ("cond-mat.mtrl-sci",),
    "Mathematics": ("math.*", "stat.*"),
    "Physics": (
        *("astro-ph*", "cond-mat*", "gr-qc", "hep-ex", "hep-lat", "hep-ph", "hep-th", "math-ph"),
        *("nlin.*", "nucl-ex", "nucl-th", "physics.*", "quant-ph"),
    ),
}
"""The categories of fields of study; the others have none there."""
_EMPTY = re.compile(
    "a|an|and|are|as|at|be|by|do|does|for|from|has|have|how|in|is|it|its|of|on|or|that|the|their"
    "|this|to|was|were|what|when|where|which|who|why|will|with",
    re.IGNORECASE,
)
"""Words that every paper has; all others must be there."""
_WITHDRAWN = re.compile(r"\bwithdrawn\b", re.IGNORECASE)


class Arxiv(PaperEngine):
    """Preprints of physics, mathematics, computer science and neighbours; all are open access."""

    row = ARXIV
    knows: ClassVar[frozenset[Scheme]] = frozenset({"arxiv"})

    async def ask(self, query: PaperQuery) -> FoundPapers:
        """See `PaperEngine.ask`."""
        words, notes = cut(query.web.query, chars=400, address=True)
        terms = list(_terms(words))
        if query.author:
            terms.append(f'au:"{_plain(query.author)}"')
        unknown = [each for each in query.fields if each not in CATEGORIES]
        if known := [cat for each in query.fields for cat in CATEGORIES.get(each, ())]:
            terms.append("(" + " OR ".join(f"cat:{each}" for each in known) + ")")
        elif unknown:
            return FoundPapers(notes=(f"arXiv has no papers of {', '.join(unknown)}.",))
        if span := _span(query):
            terms.append(span)
        if not terms:
            return FoundPapers(notes=("arXiv searches for words, and the query has none.",))
        asked: dict[str, str | int] = {
            "search_query": " AND ".join(terms),
            "max_results": min(query.most, MOST),
            "sortBy": "relevance",
        }
        return gathered(await self._papers(asked), notes)

    async def ask_for(self, paper: PaperId) -> FoundPapers:
        """See `PaperEngine.ask_for`."""
        return gathered(await self._papers({"id_list": paper.value, "max_results": 1}))

    async def _papers(self, asked: Mapping[str, str | int]) -> list[Paper | None]:
        feed = _feed(await self.service.fetch("/query", asked))
        return [_paper(entry) for entry in feed.iterfind(f"{ATOM}entry")]


def _terms(words: str) -> Iterator[str]:
    """The words that must all be there; those in quotation marks as a phrase."""
    found = re.findall(r'"([^"]+)"|(\S+)', words)
    told = [(_plain(phrase), True) if phrase else (_plain(word), False) for phrase, word in found]
    kept = [it for it in told if it[0] and not _EMPTY.fullmatch(it[0])] or [
        it for it in told if it[0]
    ]
    for term, quoted in kept[:MOST_WORDS]:
        yield f'all:"{term}"' if quoted or " " in term else f"all:{term}"


def _plain(words: str) -> str:
    """Words without signs that have a meaning in its searches."""
    return " ".join(re.sub(r"[^\w'-]", " ", words).split())


def _span(query: PaperQuery) -> str:
    """The span of days in which papers were submitted; empty for any."""
    years, since = query.years, first_day(query.web.recency)
    if years is None and since is None:
        return ""
    first = f"{years.first}0101" if years and years.first else "19910101"
    last = f"{years.last}1231" if years and years.last else f"{datetime.now(UTC).year + 1}1231"
    if since is not None:
        first = max(first, since.strftime("%Y%m%d"))
    return f"submittedDate:[{first}0000 TO {last}2359]"


def _feed(content: bytes) -> Element:
    """Parse the feed; entities and other traps of XML are refused."""
    # defusedxml: the standard library's parser with its traps closed; feedparser reads far more
    # than Atom, and guesses.
    from xml.etree.ElementTree import ParseError

    from defusedxml.ElementTree import fromstring  # type: ignore[import-untyped]

    try:
        feed: Element = fromstring(content)
    except (ParseError, ValueError):  # its refusals are ValueErrors
        raise unreadable(ARXIV, "it is no Atom feed") from None
    if feed.tag != f"{ATOM}feed":
        raise unreadable(ARXIV, "it is no Atom feed")
    for entry in feed.iterfind(f"{ATOM}entry"):
        if "/api/errors" in _said(entry, f"{ATOM}id"):
            raise VrError(
                "arXiv does not take this search.",
                Code.INVALID_INPUT,
                category="SEARCH_REFUSED",
                hint="Search for fewer or simpler words.",
            )
    return feed


def _said(entry: Element, name: str) -> str:
    return " ".join((entry.findtext(name) or "").split())


def _paper(entry: Element) -> Paper | None:
    found = identifier_of_url(_said(entry, f"{ATOM}id"))
    if found is None or found.scheme != "arxiv":
        return None
    comment, abstract = _said(entry, f"{OWN}comment"), _said(entry, f"{ATOM}summary")
    gone = _WITHDRAWN.search(f"{comment} {abstract[:200]}") is not None
    return make_paper(
        ARXIV.name,
        title=_said(entry, f"{ATOM}title"),
        id=found.value,
        authors=[_said(each, f"{ATOM}name") for each in entry.iterfind(f"{ATOM}author")],
        venue=_said(entry, f"{OWN}journal_ref") or "arXiv",
        abstract=abstract,
        url=found.url,
        pdf=f"https://arxiv.org/pdf/{found.value}",
        doi=_said(entry, f"{OWN}doi"),
        arxiv=found.value,
        retracted=True if gone else None,
        published=day({"at": _said(entry, f"{ATOM}published")}, "at"),
    )
