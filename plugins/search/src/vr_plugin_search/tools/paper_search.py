"""`paper_search`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_search.results.papers import PaperResults


@tool(effects=READ_ONLY | CALLS_OUT, long=True, aliases=["research_paper_search"])
async def paper_search(
    call: Call,
    query: str,
    author: str | None = None,
    fields_of_study: list[str] | None = None,
    year_range: Annotated[str | None, Field(description="2016-2020")] = None,
    open_access_only: bool = False,
    limit: Annotated[int, Field(ge=1, le=50)] = 10,
    provider: str | None = None,
) -> PaperResults:
    """Search papers, or get one by DOI or arXiv id."""
    from vr_kernel import WebQuery

    from vr_plugin_search.joining.searching import search_papers
    from vr_plugin_search.papers.paper_query import (
        PaperQuery,
        read_author,
        read_fields,
        read_years,
    )

    asked = PaperQuery(
        WebQuery(query, limit=limit),
        read_author(author),
        read_fields(fields_of_study),
        read_years(year_range),
        open_access_only,
    )
    return await search_papers(call, asked, provider)
