"""`web_search`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_search.arguments import Recency, domains_of
from vr_plugin_search.results.web import WebSearch


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, core=True)
async def web_search(
    call: Call,
    query: str,
    num_results: Annotated[int, Field(ge=1, le=20)] = 5,
    provider: str | None = None,
    recency: Recency | None = None,
    domains: list[str] | None = None,
) -> WebSearch:
    """Search the web."""
    from vr_kernel import WebQuery

    from vr_plugin_search.joining.searching import search_web

    hosts = domains_of(domains or ())
    asked = WebQuery(query, limit=num_results, recency=recency, domains=hosts)
    return await search_web(call, asked, provider)
