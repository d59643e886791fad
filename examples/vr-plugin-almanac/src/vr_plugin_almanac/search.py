"""A search provider: what the almanac knows about the year, found by its words."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta

from vr_kernel import Call, Recency, Services, WebQuery, WebResult, WebResults

PAGES = "https://almanac.example.org"
TABLE = (
    WebResult("Swallows leave", f"{PAGES}/september", "Swallows gather and leave in September."),
    WebResult("Swallows return", f"{PAGES}/april", "Swallows come back in the middle of April."),
    WebResult("Swallows breed", f"{PAGES}/june", "Swallows feed their young when May ends."),
    WebResult("First frost", f"{PAGES}/october", "The first night frost comes in October."),
    WebResult(
        "Longest day",
        f"{PAGES}/solstice",
        "The sun stands highest around 21 June.",
        published=date(2024, 6, 20),
        details={"authors": "The almanac"},
    ),
)
AGES: dict[Recency, timedelta] = {
    "day": timedelta(days=1),
    "week": timedelta(weeks=1),
    "month": timedelta(days=31),
    "year": timedelta(days=366),
}
Rows = Callable[[str], Sequence[WebResult]]


class AlmanacSearch:
    """A `SearchProvider` over a table; a real one asks a service here.

    Args:
        services: those of this plugin for the caller; a real one takes `services.http` and its key
            from `services.settings`.
        rows: the rows in which a query is searched.
    """

    name = "almanac"
    finds = frozenset({"web"})

    def __init__(self, services: Services, rows: Rows = lambda _query: TABLE) -> None:
        self._log = services.log
        self._rows = rows

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return the rows that share words with the query, those with the most first."""
        call.progress(0, None, "Looking into the almanac")
        wanted = _words(query.query)
        scored = [(len(wanted & _words(_text(row))), row) for row in self._rows(query.query)]
        found = [row for score, row in sorted(scored, key=lambda it: -it[0]) if score]
        self._log.info("searched", found=len(found))
        return WebResults.bounded(query, [row for row in found if _is_recent(row, query.recency)])


def _words(text: str) -> set[str]:
    return set(re.findall(r"\w+", text.casefold()))


def _text(row: WebResult) -> str:
    return f"{row.title} {row.snippet}"


def _is_recent(row: WebResult, recency: Recency | None) -> bool:
    if recency is None:
        return True
    today = datetime.now(UTC).date()
    return row.published is not None and today - row.published <= AGES[recency]
