"""`knowledge_extract`: concepts and relationships from what was recorded."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, WRITES_LOCAL, Call, Code, VrError, tool

from vr_plugin_knowledge.arguments import OptionalName, OptionalNames
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.graph.results import KnowledgeExtracted


@tool(
    effects=WRITES_LOCAL | CALLS_OUT,
    long=True,
    words="build a knowledge graph; extract concepts from my analyses; which ideas are in these"
    " records and how do they relate; make a concept map; find entities and relationships; turn"
    " notes into a graph; mine my library for topics; link what I learned; update the graph with"
    " new videos; collect the terms of a collection; connect the dots between talks; identify"
    " people, methods and terms in what was saved; find the relations between ideas"
    " automatically; feed the graph; which concepts occur in this collection, let a model read"
    " it; work out how the topics hang together; annotate the records with their concepts; turn"
    " the analyses into nodes and edges; the graph is empty, fill it; read my notes and pull the"
    " key terms out; find out who and what is named in the records; make my notes into linked"
    " ideas; prepare the concept map with a model; analyse the texts that I saved for relations;"
    " pull theories and their authors from the lectures; complete the graph with the last talks",
)
async def knowledge_extract(
    call: Call,
    collections: OptionalNames = None,
    source: Annotated[OptionalName, Field(description="As hits name it")] = None,
    object_ids: OptionalNames = None,
    limit: Annotated[int, Field(ge=1, le=100, description="Records to pay for")] = 20,
) -> KnowledgeExtracted:
    """Let a model find concepts and relationships in records, quoted, for knowledge_graph."""
    if collections is None and source is None and object_ids is None:
        raise VrError(
            "Nothing says which records to read.",
            Code.INVALID_INPUT,
            hint="Give collections, source or object_ids; each record costs a call of a model.",
        )
    from vr_plugin_knowledge.graph.extracting import extract

    kinds = find_kinds(call.services.kinds, collections)
    return await extract(call, kinds, source, object_ids, limit)
