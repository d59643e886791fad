"""`knowledge_extract`: concepts and relationships from what was recorded."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, WRITES_LOCAL, Call, Code, VrError, tool

from vr_plugin_knowledge.arguments import Collections, OptionalName, OptionalNames
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.derived import sources_among
from vr_plugin_knowledge.graph.results import KnowledgeExtracted


@tool(effects=WRITES_LOCAL | CALLS_OUT | PAID, long=True)
async def knowledge_extract(
    call: Call,
    collections: Collections = None,
    source: Annotated[OptionalName, Field(description="As hits name it")] = None,
    object_ids: OptionalNames = None,
    limit: Annotated[int, Field(ge=1, le=100, description="Records to pay for")] = 20,
) -> KnowledgeExtracted:
    """Let a model find concepts and relationships in records, quoted, for knowledge_graph.

    What models wrote is read where its collection is named.
    """
    if collections is None and source is None and object_ids is None:
        raise VrError(
            "Nothing says which records to read.",
            Code.INVALID_INPUT,
            hint="Give collections, source or object_ids; each record costs a call of a model.",
        )
    from vr_plugin_knowledge.graph.extracting import extract

    kinds = find_kinds(call.services.kinds, collections)
    if collections is None and object_ids is None:
        kinds = sources_among(kinds)
    return await extract(call, kinds, source, object_ids, limit)
