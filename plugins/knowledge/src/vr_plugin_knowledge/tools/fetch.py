"""`knowledge_fetch`: one record in full."""

from __future__ import annotations

import json
from typing import Any

from vr_kernel import IDEMPOTENT, READ_ONLY, Call, RecordKind, StoredRecord, tool

from vr_plugin_knowledge.arguments import Name, Workspace
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.excerpts import cut, estimate_tokens, locate, value_of
from vr_plugin_knowledge.reach import catch_up
from vr_plugin_knowledge.results import KnowledgeObject
from vr_plugin_knowledge.workspaces import choose_workspace

WHOLE_TOKENS = 3500
LONGEST_CHARS = (4000, 1500, 500, 150)


@tool(effects=READ_ONLY | IDEMPOTENT, core=True)
async def knowledge_fetch(
    call: Call,
    object_id: Name,
    collection: Name,
    workspace: Workspace = None,
) -> KnowledgeObject:
    """Fetch one record that a search found, whole."""
    kind, where = find_kind(call.services.kinds, collection), choose_workspace(call, workspace)
    notes: list[str] = []
    missing = KnowledgeObject(found=False, collection=kind.name, object_id=object_id, notes=notes)
    if await catch_up(call, notes) is None:
        return missing
    record = await call.services.store.get(kind.name, object_id, where)
    if record is None:
        notes.append("There is no such record. Take collection and object_id from a search.")
        return missing
    return _present(call, kind, record, notes)


def _present(
    call: Call, kind: RecordKind, record: StoredRecord, notes: list[str]
) -> KnowledgeObject:
    fields = dict(record.fields)
    properties, full = fields, None
    if estimate_tokens(fields) > WHOLE_TOKENS:
        text = json.dumps(fields, ensure_ascii=False, indent=1)
        full = call.artifact(text.encode(), "application/json").uri
        properties = _fitting(fields)
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


def _fitting(fields: dict[str, Any]) -> dict[str, Any]:
    short = fields
    for limit in LONGEST_CHARS:
        short = {name: cut(value, limit) for name, value in fields.items()}
        if estimate_tokens(short) <= WHOLE_TOKENS:
            break
    return short
