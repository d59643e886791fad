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


@tool(
    effects=WRITES_LOCAL,
    words="remember this for me; save a note; keep this fact for later; add an entry to the"
    " collection; write my own findings down; store these records; put it into the knowledge"
    " base; import a list of objects; note that for the future; insert rows; do not forget that"
    " we meet on Tuesday; log an observation so that it lasts; add my summary to what we know;"
    " for the record, the name was wrong; jot this down; record these findings; write down what"
    " I tell you; note: the oven is too hot; file this under recipes; keep in mind that the"
    " deadline moved; make a note of the decision; add a row with title and date; store my own"
    " observations; here is a fact for the records; bookmark this idea; three findings to"
    " record; save this so that I find it next week; please note; keep this quote and its"
    " author; my own thoughts about the talk, store them; the customer wants blue, remember"
    " that; add these rows from my table; put down that the test failed; here are three facts to"
    " keep; write it into my memory; remember that Anna likes tea; record the following; the"
    " result was negative, write that down; keep my list of contacts; save these measurements;"
    " save a memo; enter this; store a contact; keep a reminder; new entry: the pump leaks; add"
    " to my notes",
)
async def knowledge_ingest(
    call: Call,
    collection: Name,
    properties: Annotated[dict[str, Any] | Objects, Field(description="See knowledge_schema")],
) -> KnowledgeIngested:
    """Record objects of your own in a collection.

    A concept or relationship that is known already gets what you say; the rest of it stays.
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
    records = [
        Record(kind.name, fields, kind.identify(fields) or entity_key(call.id, kind.name, index))
        for index, fields in enumerate(typed)
    ]
    call.record(*records, essential=True)
    return KnowledgeIngested(
        status="recorded",
        collection=kind.name,
        object_ids=[record.key or "" for record in records],
    )


def _checked(kind: RecordKind, fields: dict[str, Any], index: int) -> dict[str, Any]:
    try:
        typed = kind.validate(fields)
    except VrError as error:
        raise VrError(f"Object {index}: {error.message}", error.code, hint=error.hint) from None
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
    return typed
