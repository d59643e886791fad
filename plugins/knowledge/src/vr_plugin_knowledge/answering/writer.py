"""Answers written by a language model, or, without one, put together of the best passages."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, Code, VrError

from vr_plugin_knowledge.answering.checking import (
    DraftCitation,
    DraftClaim,
    PassageCheck,
    cited_sources,
    compose,
)
from vr_plugin_knowledge.answering.passages import SourcePassage, excerpt
from vr_plugin_knowledge.answering.results import AnswerClaim, KnowledgeAnswer
from vr_plugin_knowledge.envelopes import DATA_RULE, enclose

EXTRACTS = 5
EXTRACT_CHARS = 400
UNANSWERED = "Nothing that was recorded answers this."
NO_MODEL = (
    "No language model wrote this: these are the passages that fit best. For an answer set"
    " GEMINI_API_KEY; `vr init` asks for it."
)
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


async def write_answer(
    call: Call, query: str, passages: Sequence[SourcePassage], notes: list[str]
) -> KnowledgeAnswer:
    """The answer to a question; what goes wrong with the model is named in `notes`.

    Raises:
        VrError: CANCELLED, or INTERNAL.
    """
    if not passages:
        return KnowledgeAnswer(query=query, answered=False, answer=UNANSWERED, notes=notes)
    draft, model = await _draft(call, query, passages, notes)
    claims = await asyncio.to_thread(lambda: PassageCheck(passages).check(draft.claims))
    if not claims or (model and not draft.answered):
        return KnowledgeAnswer(
            query=query, answered=False, answer=UNANSWERED, model=model, notes=notes
        )
    if unsupported := sum(not claim.supported for claim in claims):
        notes.append(f"Claims without a quote that was found: {unsupported}. Do not rely on them.")
    return KnowledgeAnswer(
        query=query,
        answered=draft.answered,
        answer=compose(claims) if model else _join(claims),
        claims=claims,
        sources=cited_sources(claims, passages),
        model=model,
        notes=notes,
    )


async def _draft(
    call: Call, query: str, passages: Sequence[SourcePassage], notes: list[str]
) -> tuple[_Draft, str]:
    """What the model says, and its name; or what the passages themselves say."""
    if not call.services.models.ready():
        notes.append(NO_MODEL)
        return _extracts(query, passages), ""
    shown = [
        {
            "passage": passage.source.number,
            "from": passage.source.source or passage.source.collection,
            "recorded": passage.created_at,
            "text": passage.text,
        }
        for passage in passages
    ]
    try:
        made = await call.services.models.generate_structured(
            f"Question: {query}\n\n{enclose(shown)}", _Draft, system=_SYSTEM, thinking="low"
        )
    except VrError as error:
        if error.code in (Code.CANCELLED, Code.INTERNAL, Code.CONFLICT):
            raise
        notes.append(
            f"The language model gave no answer, so these are the passages that fit best."
            f" {error.message} {error.hint}".strip()
        )
        return _extracts(query, passages), ""
    return made.value, made.reply.model


def _extracts(query: str, passages: Sequence[SourcePassage]) -> _Draft:
    """The passages that fit best; whether they answer the question nobody has judged."""
    claims = []
    for passage in passages[:EXTRACTS]:
        text = excerpt(passage.text, query, EXTRACT_CHARS)
        cited = DraftCitation(passage=passage.source.number, quote=text)
        claims.append(DraftClaim(text=text, citations=[cited]))
    return _Draft(answered=False, claims=claims)


def _join(claims: Sequence[AnswerClaim]) -> str:
    """Passages below each other: they are no sentences of one text."""
    return "\n\n".join(compose([claim]) for claim in claims)
