"""Perplexity's Search API: `POST /search`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import WebQuery, WebResult, WebResults

from vr_plugin_search.engines.answers import day, rows, text
from vr_plugin_search.engines.queries import cut
from vr_plugin_search.engines.service_rows import PERPLEXITY
from vr_plugin_search.engines.web_engine import WebEngine

MOST = 20
MOST_DOMAINS = 20


class Perplexity(WebEngine):
    """Pages with excerpts; it knows the age, and either domains or excluded ones."""

    row = PERPLEXITY

    async def ask(self, query: WebQuery) -> WebResults:
        """See `WebEngine.ask`."""
        words, notes = cut(query.query, chars=2_000)
        body: dict[str, Any] = {"query": words, "max_results": min(query.limit, MOST)}
        if query.recency:
            body["search_recency_filter"] = query.recency
        excluded = [f"-{each}" for each in query.excluded_domains]
        # Both lists together are refused; what is excluded is left out afterwards in any case.
        if domains := [*query.domains] or excluded:
            body["search_domain_filter"] = domains[:MOST_DOMAINS]
        headers = {"Authorization": f"Bearer {self.service.key}"}
        answer = await self.service.post("/search", body, headers)
        return WebResults.bounded(query, _results(answer), notes=notes)


def _results(answer: Mapping[str, Any]) -> Iterator[WebResult]:
    for row in rows(answer, "results"):
        published = day(row, "date") or day(row, "last_updated")
        yield WebResult(text(row, "title"), text(row, "url"), text(row, "snippet"), published)
