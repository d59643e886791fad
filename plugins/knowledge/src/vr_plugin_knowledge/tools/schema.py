"""`knowledge_schema`: what collections there are, and what goes into them."""

from __future__ import annotations

from vr_kernel import IDEMPOTENT, READ_ONLY, Call, RecordKind, fit, tool

from vr_plugin_knowledge.arguments import OptionalName
from vr_plugin_knowledge.catalogue import build_example, find_kinds, flags_of
from vr_plugin_knowledge.excerpts import json_tokens
from vr_plugin_knowledge.results import CollectionSchema, FieldSchema, KnowledgeSchema

RESULT_TOKENS = 3500
NAME_ONE = "Name a collection to see all of it."
NONE_DECLARED = "No installed plugin declares a collection."


@tool(effects=READ_ONLY | IDEMPOTENT)
async def knowledge_schema(call: Call, collection: OptionalName = None) -> KnowledgeSchema:
    """Show the fields of collections, with an example object each."""
    kinds = find_kinds(call.services.kinds, [collection] if collection else None)
    if not kinds:
        return KnowledgeSchema(collections=[], notes=[NONE_DECLARED])
    whole = KnowledgeSchema(collections=[_in_full(kind) for kind in kinds])
    if len(kinds) == 1:
        return whole
    cuts = (
        KnowledgeSchema(collections=[describe(kind) for kind in kinds], notes=[NAME_ONE])
        for describe in (_in_outline, _by_name)
    )
    return fit(whole, cuts, RESULT_TOKENS, json_tokens)


def _in_full(kind: RecordKind) -> CollectionSchema:
    outline = _in_outline(kind)
    for shown, field in zip(outline.fields, kind.all_fields, strict=True):
        shown.description = field.description
    outline.example = build_example(kind)
    return outline


def _in_outline(kind: RecordKind) -> CollectionSchema:
    fields = [
        FieldSchema(name=field.name, type=field.type, flags=flags_of(kind, field))
        for field in kind.all_fields
    ]
    return CollectionSchema(
        collection=kind.name, derived=kind.derived, description=kind.description, fields=fields
    )


def _by_name(kind: RecordKind) -> CollectionSchema:
    return CollectionSchema(
        collection=kind.name, derived=kind.derived, description=kind.description, fields=[]
    )
