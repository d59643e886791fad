"""`knowledge_search`: questions to the store."""

from __future__ import annotations

from dataclasses import replace
from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import IDEMPOTENT, READ_ONLY, Call, Code, Hit, Query, RecordKind, VrError, tool

from vr_plugin_knowledge.arguments import OptionalName, OptionalNames, Question
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.excerpts import locate, shorten, value_of
from vr_plugin_knowledge.narrowing import build_filters, split_kinds
from vr_plugin_knowledge.pages import fingerprint, read_cursor, take_page, write_cursor
from vr_plugin_knowledge.reach import catch_up
from vr_plugin_knowledge.results import KnowledgeHit, KnowledgeSearchResult

SCORE_DIGITS = 6
SearchType = Literal["hybrid", "semantic", "keyword"]


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    core=True,
    aliases=["knowledge_query"],
    words="what do I already know about physics; where did I see or hear this before; have we"
    " watched this earlier; find it in my notes; search the knowledge base for a word; which"
    " of my videos mention Einstein; what did earlier results say about inflation; I remember"
    " something about it but not where; look it up in what was recorded before; everything"
    " that we have collected on a topic; who said that in one of the talks; answer from memory"
    " rather than watch again; similar or related findings; did we come across this company"
    " previously; is there anything on cooking in my library; what did I learn about history"
    " last month; dig out what we dealt with some time ago; compare what our sources claim;"
    " remind me what the expert thought",
)
async def knowledge_search(
    call: Call,
    query: Question,
    collections: OptionalNames = None,
    search_type: SearchType = "hybrid",
    limit: Annotated[int, Field(ge=1, le=100, description="Per collection")] = 10,
    alpha: Annotated[float, Field(ge=0, le=1, description="0 keywords, 1 meaning")] = 0.5,
    evidence_tier: OptionalName = None,
    source_tool: OptionalName = None,
    date_from: Annotated[OptionalName, Field(description="ISO 8601")] = None,
    date_to: OptionalName = None,
    category: OptionalName = None,
    video_id: OptionalName = None,
    cursor: OptionalName = None,
) -> KnowledgeSearchResult:
    """Search all that was recorded, by keyword and meaning."""
    if not query.strip():
        raise VrError("The query is empty.", Code.INVALID_INPUT, hint="Say what to look for.")
    values = {
        "evidence_tier": evidence_tier,
        "source_tool": source_tool,
        "category": category,
        "video_id": video_id,
    }
    filters = build_filters(values, date_from, date_to)
    given = {**values, "date_from": date_from, "date_to": date_to}
    applied = {name: value for name, value in given.items() if value is not None}
    kinds, notes = split_kinds(find_kinds(call.services.kinds, collections), filters)
    names = tuple(kind.name for kind in kinds)
    question = fingerprint(
        query=query, names=names, type=search_type, limit=limit, alpha=alpha, filters=applied
    )
    start = read_cursor(cursor, question)
    asked = Query(query, None, search_type, alpha, names, filters, limit, workspace=call.workspace)
    pending, hits = await _ask(call, asked, notes)
    found = [_present(call.services.kinds[hit.record.kind], hit) for hit in hits]
    page = take_page(found, start)
    end = start + len(page)
    return KnowledgeSearchResult(
        query=query,
        total_results=len(found),
        results=page,
        filters_applied=applied or None,
        pending=pending,
        notes=notes,
        next_cursor=write_cursor(question, end) if end < len(found) else None,
    )


async def _ask(call: Call, query: Query, notes: list[str]) -> tuple[int, list[Hit]]:
    pending = await catch_up(call, notes)
    if pending is None or not query.kinds:
        return pending or 0, []
    store = call.services.store
    asked = await _with_vector(call, query, notes)
    hits = await store.search(asked)
    if asked.vector is not None and (waiting := await store.pending_vectors()):
        notes.append(f"Not found by meaning yet: {waiting} records wait for their vectors.")
    if not hits and not await _holds_any(call, query):
        notes.append("Nothing is recorded in these collections yet.")
    return pending, hits


async def _with_vector(call: Call, query: Query, notes: list[str]) -> Query:
    if query.mode == "keyword" or (query.mode == "hybrid" and query.alpha == 0):
        return query
    try:
        return replace(query, vector=await call.services.vectors.embed_query(query.text))
    except VrError as error:
        notes.append(f"Found by keyword alone. {error.message} {error.hint}".strip())
    except Exception as error:  # noqa: BLE001 - an embedder is a plugin's code; keywords still work
        call.log.warning("the question was not embedded", error=str(error))
        notes.append("Found by keyword alone, the embedder failed. See the server's log.")
    return replace(query, mode="keyword")


async def _holds_any(call: Call, query: Query) -> bool:
    for kind in query.kinds:
        if sum((await call.services.store.count(kind, query.workspace)).values()):
            return True
    return False


def _present(kind: RecordKind, hit: Hit) -> KnowledgeHit:
    fields = hit.record.fields
    return KnowledgeHit(
        collection=kind.name,
        object_id=hit.record.key,
        score=round(hit.score, SCORE_DIGITS),
        properties=shorten(kind, fields),
        locator=locate(kind, fields),
        link=value_of(fields, kind.link),
        source=value_of(fields, kind.source),
    )
