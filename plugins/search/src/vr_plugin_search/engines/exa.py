"""Exa's search API: `POST /search`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import Usage, WebQuery, WebResult, WebResults

from vr_plugin_search.engines.answers import at, day, rows, text, texts
from vr_plugin_search.engines.queries import cut, first_day
from vr_plugin_search.engines.service_rows import EXA
from vr_plugin_search.engines.web_engine import WebEngine

MOST = 100


class Exa(WebEngine):
    """Pages by meaning; it knows the age, domains and excluded ones, and says what it cost."""

    row = EXA

    async def ask(self, query: WebQuery) -> WebResults:
        """See `WebEngine.ask`."""
        words, notes = cut(query.query, chars=2_000)
        body: dict[str, Any] = {
            "query": words,
            "numResults": min(query.limit, MOST),
            "contents": {"highlights": True},
        }
        if query.domains:
            body["includeDomains"] = [*query.domains]
        if query.excluded_domains:
            body["excludeDomains"] = [*query.excluded_domains]
        if since := first_day(query.recency):
            body["startPublishedDate"] = f"{since.isoformat()}T00:00:00.000Z"
        headers = {"x-api-key": self.service.key}
        answer = await self.service.post("/search", body, headers)
        usage = _usage(answer)
        return WebResults.bounded(query, _results(answer), usage=usage, notes=notes)


def _usage(answer: Mapping[str, Any]) -> Usage | None:
    cost = at(answer, "costDollars", "total")
    paid = isinstance(cost, int | float) and not isinstance(cost, bool) and 0 <= cost <= MOST
    return Usage(calls=1, cost_usd=float(cost)) if paid else None


def _results(answer: Mapping[str, Any]) -> Iterator[WebResult]:
    for row in rows(answer, "results"):
        snippet = " ... ".join(texts(row, "highlights")) or text(row, "text")
        details = {"authors": text(row, "author")} if text(row, "author") else {}
        published = day(row, "publishedDate")
        yield WebResult(text(row, "title"), text(row, "url"), snippet, published, details)
