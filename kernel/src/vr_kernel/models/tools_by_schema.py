"""Tool calls for models that have none: asked for as an answer in a schema, and read from it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel

from vr_kernel.generation import Part, Reply, Request, Text, ToolCall, ToolResult, ToolSpec, Turn
from vr_kernel.models.repair import read_or_repair
from vr_kernel.models.structured import ModelShape
from vr_kernel.models.tool_calls import with_calls_settled
from vr_kernel.text.visible_text import visible

if TYPE_CHECKING:
    from vr_kernel.models.answers import Answers, ModelAnswer
    from vr_kernel.models.provided import ProvidedModel

_TASK = """\
You can call tools. Answer with one JSON object: in `say` what you say to the user, in `calls` the
tools to call now, each with its `name` and `arguments`; no calls when you need none. You are told
their results. The tools, with the JSON schemas of their arguments:
"""


class _Call(BaseModel):
    name: str
    arguments: Any = {}


class _Answer(BaseModel):
    say: str = ""
    calls: list[_Call] = []


class _AnswerShape(ModelShape[_Answer]):
    """Words and calls; read more leniently than asked for, since the caller answers each call."""

    def __init__(self, tools: Sequence[ToolSpec]) -> None:
        super().__init__(_Answer)
        call = _object(
            name={"type": "string", "enum": [tool.name for tool in tools]},
            arguments={"type": "object"},
        )
        self.schema = _object(say={"type": "string"}, calls={"type": "array", "items": call})


def by_schema(request: Request) -> Request:
    """The request as a model without tools understands it, with calls and results as words."""
    names = {call.id: call.name for turn in request.turns for call in turn.calls}
    turns = tuple(
        replace(turn, parts=_words(turn, names)) if turn.calls or turn.results else turn
        for turn in request.turns
    )
    request = replace(request, turns=turns)
    if not request.tools:
        return request
    task = _TASK + "\n".join(json.dumps(tool.identity) for tool in request.tools)
    system = f"{request.system}\n\n{task}".strip()
    return replace(request, system=system, schema=_AnswerShape(request.tools).schema, tools=())


async def read_calls(
    answers: Answers, answer: ModelAnswer, model: ProvidedModel, request: Request
) -> Reply:
    """The reply of a model that was asked by schema, as one of a model that has tools.

    An answer that does not fit is sent back once.

    Raises:
        VrError: UNAVAILABLE, category REPLY_INVALID, when the second one does not fit either.
    """
    shape = _AnswerShape(request.tools)
    value, reply = await read_or_repair(answers, answer, [model], by_schema(request), shape)
    calls = [ToolCall.read("", call.name, call.arguments) for call in value.calls]
    said = {"text": visible(value.say), "calls": calls, "state": answer.reply.state}
    return with_calls_settled(reply.model_copy(update=said), request)


def _words(turn: Turn, names: dict[str, str]) -> tuple[Part, ...]:
    """The parts of a turn, its calls as the JSON that is asked for, its results as words."""
    if turn.calls:
        calls = [{"name": call.name, "arguments": dict(call.arguments)} for call in turn.calls]
        return (Text(json.dumps({"say": turn.text, "calls": calls})),)
    return tuple(
        Text(f"{names[part.id]} {'failed' if part.failed else 'returned'}:\n{part.content}")
        if isinstance(part, ToolResult)
        else part
        for part in turn.parts
    )


def _object(**properties: Any) -> dict[str, Any]:
    return {
        "type": "object",
        "properties": properties,
        "required": [*properties],
        "additionalProperties": False,
    }
