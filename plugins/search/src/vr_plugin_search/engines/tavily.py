"""Tavily's search API: `POST /search`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import WebQuery, WebResult, WebResults

from vr_plugin_search.engines.answers import day, rows, text
from vr_plugin_search.engines.queries import cut
from vr_plugin_search.engines.service_rows import TAVILY
from vr_plugin_search.engines.web_engine import WebEngine

MOST = 20
QUERY_CHARS = 400


class Tavily(WebEngine):
    """Pages with excerpts and an answer; it knows the age, domains and excluded ones."""

    row = TAVILY

    async def ask(self, query: WebQuery) -> WebResults:
        """See `WebEngine.ask`."""
        words, notes = cut(query.query, chars=QUERY_CHARS)
        body: dict[str, Any] = {
            "query": words,
            "max_results": min(query.limit, MOST),
            "include_answer": True,
            "include_domains": [*query.domains],
            "exclude_domains": [*query.excluded_domains],
        }
        if query.recency:
            body["time_range"] = query.recency
        headers = {"Authorization": f"Bearer {self.service.key}"}
        answer = await self.service.post("/search", body, headers)
        response = text(answer, "answer")
        return WebResults.bounded(query, _results(answer), response=response, notes=notes)


def _results(answer: Mapping[str, Any]) -> Iterator[WebResult]:
    for row in rows(answer, "results"):
        said = day(row, "published_date")
        yield WebResult(text(row, "title"), text(row, "url"), text(row, "content"), said)
