"""`knowledge_ingest`: records that a client writes itself."""

from __future__ import annotations

import json
from typing import Annotated, Any

from pydantic import Field
from vr_kernel import WRITES_LOCAL, Call, Code, Record, RecordKind, VrError, entity_key, tool

from vr_plugin_knowledge.arguments import Name
from vr_plugin_knowledge.catalogue import find_kind
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
from vr_plugin_knowledge.results import KnowledgeIngested

MAX_OBJECTS = 100
MAX_CHARS = 1_000_000
Objects = Annotated[list[dict[str, Any]], Field(max_length=MAX_OBJECTS)]


@tool(effects=WRITES_LOCAL)
async def knowledge_ingest(
    call: Call,
    collection: Name,
    properties: Annotated[dict[str, Any] | Objects, Field(description="See knowledge_schema")],
) -> KnowledgeIngested:
    """Record objects of your own in a collection.

    The result says whether they are sources or `derived`, which no answer is quoted from.
    A record that is known already gets what you say; the rest of it stays, and null clears.
    """
    kind = find_kind(call.services.kinds, collection)
    objects = properties if isinstance(properties, list) else [properties]
    if not objects:
        raise VrError(
            "There is nothing to record.", Code.INVALID_INPUT, hint="Give at least one object."
        )
    typed = [_checked(kind, fields, index) for index, fields in enumerate(objects)]
    if kind.name in (CONCEPTS, EDGES):
        from vr_plugin_knowledge.graph.renewal import renew

        typed = await renew(call, kind.name, typed)
    records = [_record(call, kind, fields, index) for index, fields in enumerate(typed)]
    call.record(*records, essential=True)
    return KnowledgeIngested(
        status="recorded",
        collection=kind.name,
        derived=kind.derived,
        object_ids=[record.key or "" for record in records],
    )


def _record(call: Call, kind: RecordKind, fields: dict[str, Any], index: int) -> Record:
    known = kind.identify({name: value for name, value in fields.items() if value is not None})
    key = known or entity_key(call.id, kind.name, index)
    return Record(kind.name, fields, key, merge=bool(known))


def _checked(kind: RecordKind, fields: dict[str, Any], index: int) -> dict[str, Any]:
    try:
        typed, cleared = kind.validate(fields), kind.cleared(fields)
    except VrError as error:
        raise VrError(f"Object {index}: {error.message}", error.code, hint=error.hint) from None
    if kind.pins is not None and kind.pins in typed:
        raise VrError(
            f"Object {index}: {kind.pins} is written by the program alone, as it keeps files.",
            Code.NOT_ALLOWED,
            hint=f"Leave {kind.pins} out.",
        )
    if not typed:
        raise VrError(
            f"Object {index} has no properties.",
            Code.INVALID_INPUT,
            hint=f"knowledge_schema shows the fields of {kind.name}.",
        )
    length = len(json.dumps(typed, ensure_ascii=False))
    if length > MAX_CHARS:
        raise VrError(
            f"Object {index} has {length:,} characters.",
            Code.TOO_LARGE,
            hint=f"At most {MAX_CHARS:,} fit; divide it into several objects.",
        )
    return typed | dict.fromkeys(cleared)
