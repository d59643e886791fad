"""Answers written by a language model, or, without one, made of the best passages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, Code, VrError, cache_key

from vr_plugin_knowledge.answering.checking import (
    DraftClaim,
    PassageCheck,
    cited_sources,
    compose,
)
from vr_plugin_knowledge.answering.passages import SourcePassage, excerpt
from vr_plugin_knowledge.answering.results import KnowledgeAnswer
from vr_plugin_knowledge.envelopes import DATA_RULE, enclose

EXTRACTS = 5
EXTRACT_CHARS = 400
UNANSWERED = "Nothing that was recorded answers this."
PASSAGES_ALONE = "No language model answered. These are the passages that fit best:"
NO_MODEL = "No language model wrote this: these are the passages that fit best."
_SYSTEM = (
    "You answer a question from passages of a knowledge base, and from nothing else. Write short"
    " claims, one statement each, in the language of the question, which read in order are the"
    " answer. Under each claim cite every passage that bears it out, by its number and a quote of"
    " one phrase or sentence, copied word for word from that passage. When the passages"
    " contradict each other say so. When they do not answer the question, set answered to false"
    " and give no claims. " + DATA_RULE
)


class _Draft(BaseModel):
    answered: bool
    claims: list[DraftClaim]


class _Written(BaseModel):
    """A draft as it is cached, and the model that gave it."""

    draft: _Draft
    model: str


async def write_answer(
    call: Call, query: str, passages: Sequence[SourcePassage], notes: list[str]
) -> KnowledgeAnswer:
    """The answer to a question; failures of the model are named in `notes`.

    Raises:
        VrError: CANCELLED, or INTERNAL.
    """
    if not passages:
        return KnowledgeAnswer(query=query, answered=False, answer=UNANSWERED, notes=notes)
    drafted = await _draft(call, query, passages, notes)
    if drafted is None:
        return _extracts(query, passages, notes)
    draft, model = drafted
    claims = await asyncio.to_thread(lambda: PassageCheck(passages).check(draft.claims))
    if not claims or not draft.answered:
        return KnowledgeAnswer(
            query=query, answered=False, answer=UNANSWERED, model=model, notes=notes
        )
    if unsupported := sum(not claim.supported for claim in claims):
        notes.append(f"Claims without a quote that was found: {unsupported}. Do not rely on them.")
    return KnowledgeAnswer(
        query=query,
        answered=True,
        answer=compose(claims),
        claims=claims,
        sources=cited_sources(claims, passages),
        model=model,
        notes=notes,
    )


async def _draft(
    call: Call, query: str, passages: Sequence[SourcePassage], notes: list[str]
) -> tuple[_Draft, str] | None:
    """The model's answer and name; None when there is no model or it gave no answer."""
    try:
        call.services.models.names("default")
    except VrError as error:
        notes.append(f"{NO_MODEL} {error.told}")
        return None
    shown = [
        {
            "passage": passage.source.number,
            "from": passage.source.source or passage.source.collection,
            "recorded": passage.created_at,
            "text": passage.text,
        }
        for passage in passages
    ]
    said = f"Question: {query}\n\n{enclose(shown)}"
    try:
        written = await _written(call, said)
    except VrError as error:
        if error.code in (Code.CANCELLED, Code.INTERNAL, Code.CONFLICT):
            raise
        notes.append(
            f"The language model gave no answer, so these are the passages that fit best."
            f" {error.message} {error.hint}".strip()
        )
        return None
    return written.draft, written.model


async def _written(call: Call, said: str) -> _Written:
    """A model's answer, from the cache after a crash and for equal passages."""

    async def produce(own: Call) -> _Written:
        made = await own.services.models.generate_structured(
            said, _Draft, system=_SYSTEM, thinking="low"
        )
        return _Written(draft=made.value, model=made.reply.model)

    answers = call.services.models.identity(thinking="low")
    key = cache_key(what="answer", system=_SYSTEM, said=said, **answers)
    return await call.once(key, _Written, produce)


def _extracts(query: str, passages: Sequence[SourcePassage], notes: list[str]) -> KnowledgeAnswer:
    """The passages that fit best, without a check if they answer the question."""
    best = passages[:EXTRACTS]
    shown = [f"{excerpt(p.text, query, EXTRACT_CHARS)} [{p.source.number}]" for p in best]
    return KnowledgeAnswer(
        query=query,
        answered=False,
        answer="\n\n".join([PASSAGES_ALONE, *shown]),
        sources=[passage.source for passage in best],
        notes=notes,
    )
