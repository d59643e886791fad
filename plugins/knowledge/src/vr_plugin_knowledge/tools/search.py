"""`knowledge_search`: questions to the store."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import CALLS_OUT, IDEMPOTENT, READ_ONLY, Call, Code, Hit, Query, VrError, tool

from vr_plugin_knowledge.arguments import Collections, FieldValue, OptionalName, Question, Workspace
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.derived import Derived, place_derived
from vr_plugin_knowledge.graph.results import Neighbour
from vr_plugin_knowledge.narrowing import build_filters, tell_unfiltered
from vr_plugin_knowledge.notes.folder import read_notes
from vr_plugin_knowledge.pages import (
    continue_after,
    fingerprint,
    id_of,
    places_besides,
    read_cursor,
    shown_before,
    take_page,
)
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeSearchResult
from vr_plugin_knowledge.retrieval import Found, present, retrieve
from vr_plugin_knowledge.summaries import summarise
from vr_plugin_knowledge.workspaces import choose_workspace

SearchType = Literal["hybrid", "semantic", "keyword"]


@tool(
    effects=READ_ONLY | IDEMPOTENT | CALLS_OUT,
    core=True,
    aliases=["knowledge_query"],
    command="search",
)
async def knowledge_search(
    call: Call,
    query: Question,
    collections: Collections = None,
    search_type: SearchType = "hybrid",
    limit: Annotated[int, Field(ge=1, le=100, description="Per collection")] = 10,
    alpha: Annotated[float, Field(ge=0, le=1, description="0 keywords, 1 meaning")] = 0.5,
    evidence_tier: FieldValue = None,
    source_tool: OptionalName = None,
    date_from: Annotated[OptionalName, Field(description="ISO 8601")] = None,
    date_to: OptionalName = None,
    category: FieldValue = None,
    video_id: OptionalName = None,
    workspace: Workspace = None,
    graph: Annotated[bool, Field(description="Add what concepts lead to")] = False,
    derived: Annotated[Derived, Field(description="Hits that models wrote")] = "after",
    cursor: OptionalName = None,
) -> KnowledgeSearchResult:
    """Search all that was recorded, by keyword and meaning."""
    _require(query)
    values = {
        "evidence_tier": evidence_tier,
        "source_tool": source_tool,
        "category": category,
        "video_id": video_id,
    }
    filters = build_filters(values, date_from, date_to)
    applied = _given(**values, date_from=date_from, date_to=date_to)
    kinds, last = place_derived(find_kinds(call.services.kinds, collections), collections, derived)
    notes = tell_unfiltered(kinds, filters)
    names, where = tuple(kind.name for kind in kinds), choose_workspace(call, workspace)
    how = {"type": search_type, "limit": limit, "alpha": alpha, "last": sorted(last)}
    question = fingerprint(query=query, names=names, filters=applied, workspace=where, **how)
    start = read_cursor(cursor, question)
    asked = Query(query, None, search_type, alpha, names, filters, limit, where, lenient=True)
    await read_notes(call, notes)
    found = await retrieve(call, asked, notes, last)
    hits = _presented(call, found)
    before = await shown_before(call, cursor, start, hits)
    rest = places_besides(hits, before)
    page = take_page([hits[place] for place in rest], 0)
    results, processed = await summarise(call, query, page, notes)
    return KnowledgeSearchResult(
        query=query,
        total_results=len(hits),
        results=results,
        filters_applied=applied or None,
        reranked=found.reranked,
        flash_processed=processed,
        neighbours=await _neighbours(call, [found.hits[n] for n in rest[: len(page)]], where)
        if graph
        else None,
        pending=found.pending,
        notes=notes,
        next_cursor=continue_after(call, question, [*before, *map(id_of, page)])
        if len(page) < len(rest)
        else None,
    )


def _presented(call: Call, found: Found) -> list[KnowledgeHit]:
    kinds, scored = call.services.kinds, zip(found.hits, found.rerank_scores, strict=True)
    return [present(kinds[hit.record.kind], hit, score) for hit, score in scored]


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _require(query: str) -> None:
    if not query.strip():
        raise VrError("The query is empty.", Code.INVALID_INPUT, hint="Say what to look for.")


async def _neighbours(call: Call, hits: Sequence[Hit], workspace: str) -> list[Neighbour]:
    from vr_plugin_knowledge.graph.neighbours import graph_neighbours

    return await graph_neighbours(call, hits, workspace)
