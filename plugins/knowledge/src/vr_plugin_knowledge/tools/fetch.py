"""`knowledge_fetch`: one record in full."""

from __future__ import annotations

import json
from typing import Annotated

from pydantic import Field
from vr_kernel import IDEMPOTENT, READ_ONLY, Call, RecordKind, StoredRecord, fit, tool

from vr_plugin_knowledge.arguments import Name, Workspace
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.excerpts import cut, json_tokens, locate, value_of
from vr_plugin_knowledge.freshness import catch_up
from vr_plugin_knowledge.results import KnowledgeObject
from vr_plugin_knowledge.workspaces import choose_workspace

WHOLE_TOKENS = 3500
NO_SUCH = "There is no such record. Take collection and object_id from a search."
LONGEST_CHARS = (4000, 1500, 500, 150)


@tool(effects=READ_ONLY | IDEMPOTENT, core=True)
async def knowledge_fetch(
    call: Call,
    object_id: Name,
    collection: Name,
    workspace: Workspace = None,
    version: Annotated[
        int, Field(ge=0, le=1_000_000, description="0 present, 1 the one before")
    ] = 0,
) -> KnowledgeObject:
    """Fetch one record that a search found, whole."""
    kind, where = find_kind(call.services.kinds, collection), choose_workspace(call, workspace)
    notes: list[str] = []
    record, versions = None, 1
    if await catch_up(call, notes) is not None:
        record, versions = await _version(call, kind, (where, object_id), version)
        if record is None:
            notes.append(f"It has {versions} versions, from 0 on." if versions > 1 else NO_SUCH)
    if record is None:
        return KnowledgeObject(found=False, collection=kind.name, object_id=object_id, notes=notes)
    return _present(call, kind, record, notes).model_copy(
        update={"version": version, "versions": versions}
    )


async def _version(
    call: Call, kind: RecordKind, place: tuple[str, str], version: int
) -> tuple[StoredRecord | None, int]:
    """A version of the record at a workspace and key, and how many there are."""
    workspace, key = place
    present = await call.services.store.get(kind.name, key, workspace)
    if not kind.history or present is None:
        return (None if version else present), 1
    former = await call.services.journal.former(workspace, kind.name, key)
    told = [({"created_at": one.created_at, **(one.fields or {})}, one) for one in former]
    versions = [present, *(StoredRecord(kind.name, key, f, one.provenance) for f, one in told)]
    return (versions[version] if version < len(versions) else None), len(versions)


def _present(
    call: Call, kind: RecordKind, record: StoredRecord, notes: list[str]
) -> KnowledgeObject:
    fields = dict(record.fields)
    cuts = ({name: cut(value, limit) for name, value in fields.items()} for limit in LONGEST_CHARS)
    properties, full = fit(fields, cuts, WHOLE_TOKENS, json_tokens), None
    if properties is not fields:
        text = json.dumps(fields, ensure_ascii=False, indent=1)
        full = call.artifact(text.encode(), "application/json").uri
        notes.append("Long values are cut; full has the whole record.")
    return KnowledgeObject(
        found=True,
        collection=kind.name,
        object_id=record.key,
        properties=properties,
        locator=locate(kind, fields),
        link=value_of(fields, kind.link),
        source=value_of(fields, kind.source),
        derived=kind.derived,
        provenance=dict(record.provenance),
        full=full,
        notes=notes,
    )
