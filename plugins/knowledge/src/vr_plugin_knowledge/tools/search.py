"""`knowledge_search`: questions to the store."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import CALLS_OUT, IDEMPOTENT, PAID, READ_ONLY, Call, Code, Hit, Query, VrError, tool

from vr_plugin_knowledge.arguments import Collections, FieldValue, OptionalName, Question, Workspace
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.derived import Derived, place_derived
from vr_plugin_knowledge.graph.results import Neighbour
from vr_plugin_knowledge.notes.folder import read_notes
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeSearchResult
from vr_plugin_knowledge.search.filters import build_filters, tell_unfiltered
from vr_plugin_knowledge.search.pages import (
    continue_after,
    fingerprint,
    places_besides,
    read_cursor,
    room_of_hit,
    shown_before,
    take_page,
)
from vr_plugin_knowledge.search.retrieval import Found, present, retrieve
from vr_plugin_knowledge.search.summaries import summarise
from vr_plugin_knowledge.workspaces import choose_workspace

SearchType = Literal["hybrid", "semantic", "keyword"]


@tool(
    effects=READ_ONLY | IDEMPOTENT | CALLS_OUT | PAID,
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
    ids = [(hit.record.kind, hit.record.key) for hit in found.hits]
    before = await shown_before(call, cursor, start, ids)
    rest = places_besides(ids, before)
    page = take_page(_shown(call, found, rest, room_of_hit(min(limit, len(rest)))))
    shown = [found.hits[place] for place in rest[: len(page)]]
    told = [*before, *(ids[place] for place in rest[: len(page)])]
    results, processed = await summarise(call, query, page, notes)
    return KnowledgeSearchResult(
        query=query,
        total_results=len(found.hits),
        results=results,
        filters_applied=applied or None,
        reranked=found.reranked,
        embedder=found.embedder or None,
        reranker=found.reranker or None,
        flash_processed=processed,
        neighbours=await _neighbours(call, shown, where) if graph else None,
        pending=found.pending,
        notes=notes,
        next_cursor=continue_after(call, question, told) if len(page) < len(rest) else None,
    )


def _given(**values: str | None) -> dict[str, str]:
    return {name: value for name, value in values.items() if value is not None}


def _require(query: str) -> None:
    if not query.strip():
        raise VrError("The query is empty.", Code.INVALID_INPUT, hint="Say what to look for.")


def _shown(call: Call, found: Found, places: Iterable[int], room: int) -> Iterator[KnowledgeHit]:
    for place in places:
        hit = found.hits[place]
        yield present(call.services.kinds[hit.record.kind], hit, room, found.rerank_scores[place])


async def _neighbours(call: Call, hits: Sequence[Hit], workspace: str) -> list[Neighbour]:
    from vr_plugin_knowledge.graph.neighbours import graph_neighbours

    return await graph_neighbours(call, hits, workspace)
