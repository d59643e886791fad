"""Repairs an answer that does not have the required shape: once, by asking again."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Reply, Request, Text, Turn, Usage
from vr_kernel.models.structured import MisfitError, Shape

if TYPE_CHECKING:
    from vr_kernel.models.answers import Answers, ModelAnswer
    from vr_kernel.models.provided import ProvidedModel

V = TypeVar("V")
SHORT = 20_000
"""Length in characters up to which reading is quick."""
_FENCED = re.compile(r"\s*```\w*\n(.*)```\s*", re.DOTALL)
"""JSON as a code block of Markdown, as models without a schema mode like to give it."""
_REPAIR = """\
This JSON does not fit its schema. Give it again, corrected, and nothing else.
What is wrong: {problem}

{text}"""


async def read_or_repair(
    answers: Answers,
    first: ModelAnswer,
    models: Sequence[ProvidedModel],
    request: Request,
    shape: Shape[V],
) -> tuple[V, Reply]:
    """Return the value of an answer, which is repaired when it does not fit.

    The repair request has only the text, so that media are not paid for twice. Both answers stay
    committed as steps, until it is clear that neither fits.

    Raises:
        VrError: UNAVAILABLE, category REPLY_INVALID, when the second answer does not fit.
    """
    try:
        return await _read(shape, first.reply.text), first.reply
    except MisfitError as misfit:
        again = _repair_request(request, first.reply, misfit)
    second = await _ask_again(answers, models, again, first)
    whole = _both(first.reply, second.reply)
    try:
        return await _read(shape, whole.text), whole
    except MisfitError as misfit:
        error = _invalid(whole, misfit)
    await answers.drop(first, second)
    await answers.keep(error)
    raise error


async def _read(shape: Shape[V], text: str) -> V:
    """The value in a reply; in a thread when that may take longer than starting one."""
    if fenced := _FENCED.fullmatch(text):
        text = fenced[1]
    if shape.quick and len(text) <= SHORT:
        return shape.read(text)
    return await asyncio.to_thread(shape.read, text)


async def _ask_again(
    answers: Answers, models: Sequence[ProvidedModel], again: Request, first: ModelAnswer
) -> ModelAnswer:
    """Return the second answer; if there is none, keep the first one, which was paid for."""
    try:
        return await answers.ask(models, again)
    except VrError as error:
        error.usage = first.reply.usage + (error.usage or Usage())
        if not error.retryable:
            await answers.drop(first)
        if not error.detail:
            error.detail = first.reply.text
            await answers.keep(error)
        raise


def _repair_request(request: Request, reply: Reply, misfit: MisfitError) -> Request:
    said = _REPAIR.format(problem=misfit, text=reply.text)
    return replace(
        request,
        turns=(Turn("user", (Text(said),)),),
        cached_content="",
        search=False,
        url_context=False,
    )


def _both(first: Reply, second: Reply) -> Reply:
    """The second answer, with usage and sources of both."""
    return second.model_copy(
        update={
            "usage": first.usage + second.usage,
            "sources": first.sources,
            "notes": list(dict.fromkeys([*first.notes, *second.notes])),
        }
    )


def _invalid(reply: Reply, misfit: MisfitError) -> VrError:
    return VrError(
        f"The answer of {reply.model} does not fit its schema: {misfit}.",
        Code.UNAVAILABLE,
        category="REPLY_INVALID",
        hint="Ask again, ask for less, or choose another model.",
        usage=reply.usage,
        detail=reply.text,
    )
