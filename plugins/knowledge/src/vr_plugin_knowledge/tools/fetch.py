"""`knowledge_fetch`: one record in full."""

from __future__ import annotations

import json
from typing import Any

from vr_kernel import IDEMPOTENT, READ_ONLY, Call, RecordKind, StoredRecord, tool

from vr_plugin_knowledge.arguments import Name, OptionalName
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.excerpts import cut, estimate_tokens, locate, value_of
from vr_plugin_knowledge.reach import catch_up
from vr_plugin_knowledge.results import KnowledgeObject
from vr_plugin_knowledge.workspaces import choose_workspace

WHOLE_TOKENS = 3500
LONGEST_CHARS = (4000, 1500, 500, 150)


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    core=True,
    words="open a search hit; show the whole record; the full entry and not only the excerpt; get"
    " the object with this id; all properties of that item; more detail on the second result;"
    " read the rest of the entry, it is cut off; load a stored record by its key; expand one of"
    " the hits; show me record 4711 of a collection; origin and source of one finding; raw data"
    " of an entry; I want to read this one in its entirety; the complete text of that finding;"
    " give me everything that is stored under this id; show the second hit in full; the source"
    " of this quote, the whole record; open it; details of one entry; the hit looks promising,"
    " let me see all of it; print the stored object; all fields of the third hit; the text was"
    " shortened, give me the rest; look up this id; full note, not the summary; where does this"
    " record come from; read out the entry from Tuesday that you just found; get the object 7c1e"
    " from the collection; the record with this key; unabridged entry; display the item with all"
    " its fields; full details of the fourth result; look at the original record",
)
async def knowledge_fetch(
    call: Call,
    object_id: Name,
    collection: Name,
    workspace: OptionalName = None,
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
