"""`knowledge_ask`: answers from what was recorded."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, Code, Query, RecordKind, VrError, tool

from vr_plugin_knowledge.answering.results import Backend, KnowledgeAnswer
from vr_plugin_knowledge.arguments import Collections, Question
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.derived import evidence_among
from vr_plugin_knowledge.search.retrieval import retrieve


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, command="ask")
async def knowledge_ask(
    call: Call,
    query: Question,
    collections: Collections = None,
    backend: Backend = "retrieval",
) -> KnowledgeAnswer:
    """Answer a question from recorded sources, with checked quotes.

    What models wrote, such as analyses, is no source.
    """
    if not query.strip():
        raise VrError("The question is empty.", Code.INVALID_INPUT, hint="Say what to answer.")
    kinds = find_kinds(call.services.kinds, collections)
    notes: list[str] = []
    kinds = evidence_among(kinds, collections, notes)
    if backend == "weaviate_agent" and kinds:
        from vr_plugin_knowledge.answering.agent import ask_agent

        return await ask_agent(call, query, kinds, notes)
    return await _answer(call, query, kinds, notes)


async def _answer(
    call: Call, query: str, kinds: list[RecordKind], notes: list[str]
) -> KnowledgeAnswer:
    from vr_plugin_knowledge.answering.passages import PASSAGES, read_passages
    from vr_plugin_knowledge.answering.writer import write_answer
    from vr_plugin_knowledge.notes.folder import read_notes

    names = tuple(kind.name for kind in kinds)
    asked = Query(query, kinds=names, limit=PASSAGES, workspace=call.workspace)
    await read_notes(call, notes)
    found = await retrieve(call, asked, notes)
    passages = read_passages(call.services.kinds, found.hits, query)
    answer = await write_answer(call, query, passages, notes)
    return answer.model_copy(update={"pending": found.pending})
