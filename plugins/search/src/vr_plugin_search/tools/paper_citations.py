"""`paper_citations`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, VrError, tool

from vr_plugin_search.results.papers import Direction, PaperCitations


@tool(effects=READ_ONLY | CALLS_OUT, long=True, aliases=["research_paper_citations"])
async def paper_citations(
    call: Call,
    paper_id: str,
    direction: Direction = "citations",
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> PaperCitations:
    """List papers citing a paper, its references or similar ones."""
    from vr_plugin_search.addresses.identifiers import read_identifier
    from vr_plugin_search.citing.relations import Relations
    from vr_plugin_search.recording import record_papers

    paper = read_identifier(paper_id)
    if paper is None:
        raise VrError(
            f"{paper_id[:60]!r} is no identifier of a paper.",
            Code.INVALID_INPUT,
            category="PAPER_ID",
            hint="Give a DOI, the number or address at arXiv, or an id of paper_search.",
        )
    found = await Relations(call, call.services).of(paper, direction, limit)
    record_papers(call, found.papers)
    return found
