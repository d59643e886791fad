"""SearXNG, which the user runs: `GET /search?format=json`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import Code, VrError, WebQuery, WebResult, WebResults

from vr_plugin_search.engines.answers import at, day, rows, text
from vr_plugin_search.engines.queries import cut, recent, with_sites
from vr_plugin_search.engines.service_rows import SEARXNG
from vr_plugin_search.engines.web_engine import WebEngine

QUERY_CHARS = 400


class SearXNG(WebEngine):
    """Pages that several search engines found; what they know differs."""

    row = SEARXNG

    async def ask(self, query: WebQuery) -> WebResults:
        """See `WebEngine.ask`."""
        words, notes = cut(query.query, chars=QUERY_CHARS, address=True)
        asked: dict[str, str | int] = {"q": with_sites(words, query, QUERY_CHARS), "format": "json"}
        if query.recency:
            asked["time_range"] = query.recency
        answer = await self.service.get("/search", asked)
        found, more = recent(_results(answer), query.recency)
        if not found:
            _require_engines(answer)
        return WebResults.bounded(query, found, response=_answer(answer), notes=[*notes, *more])


def _results(answer: Mapping[str, Any]) -> Iterator[WebResult]:
    for row in rows(answer, "results"):
        published = day(row, "publishedDate")
        yield WebResult(text(row, "title"), text(row, "url"), text(row, "content"), published)


def _answer(answer: Mapping[str, Any]) -> str:
    """The first direct answer; older versions send texts, newer ones objects."""
    listed = at(answer, "answers")
    first = listed[0] if isinstance(listed, list) and listed else None
    return text({"it": first}, "it") or text(first, "answer")


def _require_engines(answer: Mapping[str, Any]) -> None:
    """Tell nothing found from engines that do not answer."""
    down = at(answer, "unresponsive_engines")
    if isinstance(down, list) and down:
        raise VrError(
            f"{len(down)} of the search engines behind SearXNG did not answer, the others found"
            " nothing.",
            Code.UNAVAILABLE,
            category="SEARCH_SERVICE_DOWN",
            hint="Try again later, or turn on other engines in its settings.yml.",
            retryable=True,
        )
