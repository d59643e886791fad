"""`knowledge_ask`: answers from what was recorded."""

from __future__ import annotations

from vr_kernel import CALLS_OUT, READ_ONLY, Call, Code, Query, RecordKind, VrError, tool

from vr_plugin_knowledge.answering.results import Backend, KnowledgeAnswer
from vr_plugin_knowledge.arguments import OptionalNames, Question
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.retrieval import retrieve


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="answer my question from what we know; what do my sources say about inflation, with"
    " citations; summarise all we have on a topic; explain it with quotes from my notes; a"
    " synthesised answer with references; what were the key findings; what have we learned about"
    " transformers; why did they decide that, according to the records; tell me with proof where"
    " it stands; conclude from several talks; ask the knowledge base; give me an answer with"
    " sources; according to my notes, is it true; what is the evidence for that in what I"
    " collected; do the experts that I listened to agree; draw a conclusion from everything"
    " recorded; which advice did the talks give on sleep; answer with references to the records;"
    " what was the reason that the team gave; sum up what my library says; based on what I"
    " saved, what should I do; what is known about it, with evidence; how do the opinions in my"
    " collection differ; did the customers like it, judging by all calls; is there proof in my"
    " notes; which reasons were given across the meetings; a short answer from all that I have"
    " watched, and where it comes from; what do the lectures agree on; when did we decide to"
    " change the plan; explain on the basis of my archive; what evidence do we hold; cite the"
    " passages; why was it postponed, going by the minutes; what do we know so far",
)
async def knowledge_ask(
    call: Call,
    query: Question,
    collections: OptionalNames = None,
    backend: Backend = "retrieval",
) -> KnowledgeAnswer:
    """Answer a question from what was recorded, with checked quotes."""
    if not query.strip():
        raise VrError("The question is empty.", Code.INVALID_INPUT, hint="Say what to answer.")
    kinds = find_kinds(call.services.kinds, collections)
    notes: list[str] = []
    if backend == "weaviate_agent":
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
