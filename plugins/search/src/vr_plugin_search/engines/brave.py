"""Brave's Web Search API: `POST /web/search`."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel import Recency, WebQuery, WebResult, WebResults

from vr_plugin_search.engines.answers import day, rows, text, texts
from vr_plugin_search.engines.queries import cut, with_sites
from vr_plugin_search.engines.service_rows import BRAVE
from vr_plugin_search.engines.web_engine import WebEngine

MOST = 20
QUERY_CHARS, QUERY_WORDS = 400, 50
FRESHNESS: Mapping[Recency, str] = {"day": "pd", "week": "pw", "month": "pm", "year": "py"}


class Brave(WebEngine):
    """Pages with excerpts; it knows the age, and domains by operators in the query.

    It also takes GET; with POST the words of a query stand in no address, and a preview, which
    pays for nothing, does not send it.
    """

    row = BRAVE

    async def ask(self, query: WebQuery) -> WebResults:
        """See `WebEngine.ask`."""
        words, notes = cut(query.query, chars=QUERY_CHARS, words=QUERY_WORDS)
        body: dict[str, Any] = {
            "q": with_sites(words, query, QUERY_CHARS),
            "count": MOST if query.domains or query.excluded_domains else min(query.limit, MOST),
            "result_filter": "web",
            "text_decorations": False,
        }
        if query.recency:
            body["freshness"] = FRESHNESS[query.recency]
        headers = {"X-Subscription-Token": self.service.key}
        answer = await self.service.post("/web/search", body, headers)
        return WebResults.bounded(query, _results(answer), notes=notes)


def _results(answer: Mapping[str, Any]) -> Iterator[WebResult]:
    for row in rows(answer, "web", "results"):
        said = [text(row, "description"), *texts(row, "extra_snippets")]
        snippet = " ... ".join(filter(None, said))
        yield WebResult(text(row, "title"), text(row, "url"), snippet, day(row, "page_age"))
