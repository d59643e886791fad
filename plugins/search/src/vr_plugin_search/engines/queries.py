"""Queries as services take them: short enough, with the sites in words, with the first day."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime, timedelta
from urllib.parse import quote

from vr_kernel import Recency, WebQuery, WebResult

AGES: dict[Recency, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}
"""The age that each recency allows."""
ADDRESS_CHARS = 1_200
"""Most characters of a query within an address, as it is sent; addresses have 2,048 in all."""


def first_day(recency: Recency | None) -> date | None:
    """The first day of a recency, counted from today; None for any age."""
    return None if recency is None else datetime.now(UTC).date() - AGES[recency]


def cut(query: str, *, chars: int, words: int = 0, address: bool = False) -> tuple[str, list[str]]:
    """Shorten a query to what a service takes; the note says so when that was needed.

    Args:
        query: the words.
        chars: most characters.
        words: most words; any number when 0.
        address: the query is sent within an address, where a sign takes up to nine characters.
    """
    kept = " ".join(query.split())
    if words:
        kept = " ".join(kept.split()[:words])
    kept = kept[:chars].rstrip()
    while address and len(quote(kept)) > ADDRESS_CHARS:
        kept = kept[: len(kept) * ADDRESS_CHARS // len(quote(kept))].rstrip()
    if len(kept) == len(" ".join(query.split())):
        return kept, []
    return kept, [f"The query was cut to its first {len(kept):,} characters."]


def with_sites(words: str, query: WebQuery, chars: int = 400) -> str:
    """The words with the domains in them, as search engines take it, where there is room."""
    sites = " OR ".join(f"site:{each}" for each in query.domains)
    told = [f"({sites})" if len(query.domains) > 1 else sites]
    told += [f"-site:{each}" for each in query.excluded_domains]
    for each in filter(None, told):
        if len(words) + 1 + len(each) <= chars:
            words = f"{words} {each}"
    return words


def recent(
    results: Iterable[WebResult], recency: Recency | None
) -> tuple[Sequence[WebResult], list[str]]:
    """Leave out what is known to be older; the note counts those of which nothing is known."""
    since = first_day(recency)
    found = list(results)
    if since is None:
        return found, []
    kept = [each for each in found if each.published is None or each.published >= since]
    unknown = sum(each.published is None for each in kept)
    if not unknown:
        return kept, []
    return kept, [f"Of {unknown} results no date is known: they may be older than a {recency}."]
