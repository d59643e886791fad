"""`knowledge_conflicts`: claims that contradict each other."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import IDEMPOTENT, READ_ONLY, Call, Code, VrError, tool

from vr_plugin_knowledge.arguments import MAX_QUERY, OptionalNames, bound
from vr_plugin_knowledge.results import KnowledgeConflicts


@tool(effects=READ_ONLY | IDEMPOTENT)
async def knowledge_conflicts(
    call: Call,
    query: Annotated[str | None, bound(MAX_QUERY)] = None,
    collections: Annotated[OptionalNames, Field(description="Else derived")] = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> KnowledgeConflicts:
    """List contradicting claims across records."""
    from vr_plugin_knowledge.conflicts.answering import list_conflicts

    if query is not None and not query.strip():
        raise VrError("The query is empty.", Code.INVALID_INPUT, hint="Leave it out for all.")
    return await list_conflicts(call, query, collections, limit)
