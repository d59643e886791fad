"""`knowledge_related`: what is near to a record."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import (
    IDEMPOTENT,
    READ_ONLY,
    Call,
    Code,
    Hit,
    Query,
    RecordKind,
    StoredRecord,
    VrError,
    tool,
)

from vr_plugin_knowledge.arguments import Name, Workspace
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.freshness import catch_up, said_of
from vr_plugin_knowledge.results import KnowledgeRelated
from vr_plugin_knowledge.search.pages import room_of_hit, take_page
from vr_plugin_knowledge.search.retrieval import present
from vr_plugin_knowledge.workspaces import choose_workspace

WORDS_CHARS = 500
"""Characters of a record's text that are searched by keyword, where there are no vectors."""
BY_KEYWORD = "Found by keyword alone:"


@tool(effects=READ_ONLY | IDEMPOTENT)
async def knowledge_related(
    call: Call,
    object_id: Name,
    collection: Name,
    limit: Annotated[int, Field(ge=1, le=100)] = 5,
    workspace: Workspace = None,
) -> KnowledgeRelated:
    """Find records of a collection that are similar to one of them."""
    kind, where = find_kind(call.services.kinds, collection), choose_workspace(call, workspace)
    notes: list[str] = []
    pending = await catch_up(call, notes)
    hits = [] if pending is None else await _near(call, kind, (object_id, where), limit, notes)
    room = room_of_hit(min(limit, len(hits)))
    results = take_page(present(kind, hit, room) for hit in hits)
    if len(results) < len(hits):
        notes.append(f"Too long to show all: {len(hits) - len(results)} more.")
    return KnowledgeRelated(
        collection=kind.name,
        object_id=object_id,
        total_results=len(hits),
        results=results,
        pending=pending or 0,
        notes=notes,
    )


async def _near(
    call: Call, kind: RecordKind, place: tuple[str, str], limit: int, notes: list[str]
) -> list[Hit]:
    """The hits near the record of a key in a workspace."""
    store, (key, workspace) = call.services.store, place
    record = await store.get(kind.name, key, workspace)
    if record is None:
        raise VrError(
            f"{kind.name} has no record {key!r}.",
            Code.NOT_FOUND,
            hint="Take collection and object_id from a search.",
        )
    if not call.services.vectors.available():
        notes.append(f"{BY_KEYWORD} no embedder is installed. pip install vr-embedder-minilm")
        return await _sharing_words(call, kind, record, workspace, limit)
    if hits := await store.near(kind.name, key, workspace, limit):
        return hits
    if waiting := await store.pending_vectors():
        notes.append(f"{BY_KEYWORD} {said_of(call, waiting)} wait for their vectors.")
        return await _sharing_words(call, kind, record, workspace, limit)
    notes.append(f"Nothing else in {kind.name} can be compared with it.")
    return []


async def _sharing_words(
    call: Call, kind: RecordKind, record: StoredRecord, workspace: str, limit: int
) -> list[Hit]:
    words = kind.search_text(record.fields) or kind.vector_text(record.fields)
    query = Query(
        words[:WORDS_CHARS],
        mode="keyword",
        kinds=(kind.name,),
        limit=limit + 1,
        workspace=workspace,
    )
    hits = await call.services.store.search(query)
    return [hit for hit in hits if hit.record.key != record.key][:limit]
