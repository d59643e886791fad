"""Tool calls on their way: declared, paired with their results, told apart, bounded."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Reply, Request, ToolCall, ToolSpec, Turn
from vr_kernel.models.caller_schemas import SCHEMA_BYTES
from vr_kernel.text.visible_text import all_visible, result_text, visible

MOST_CALLS = 128
"""Calls of one reply that are handed on; the reply's notes tell when there were more."""
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_-]{0,63}")
"""Names of tools that every provider takes."""
_MODEL = "model"
"""The entry of a turn's state that names the model that made it."""


def require_tools(tools: Iterable[ToolSpec]) -> None:
    """Refuse declarations that a provider would refuse.

    Raises:
        VrError: INVALID_INPUT, category TOOL_INVALID.
    """
    names: set[str] = set()
    for tool in tools:
        if not isinstance(tool, ToolSpec):
            raise VrError(
                f"A tool for a model is a ToolSpec, not a {type(tool).__name__}.",
                Code.INVALID_INPUT,
                category="TOOL_INVALID",
                hint="Give its name, a description, and the JSON schema of its arguments.",
            )
        if not _NAME.fullmatch(tool.name):
            raise _invalid(tool, "its name is no letter or _ and up to 63 letters, digits, _ or -")
        if tool.name in names:
            raise _invalid(tool, "another one has the same name")
        names.add(tool.name)
        if tool.schema.get("type") != "object":
            raise _invalid(tool, "the schema of its arguments is not of the type object")
        try:
            size = len(json.dumps(tool.identity, allow_nan=False))
        except (TypeError, ValueError, RecursionError) as error:
            raise _invalid(tool, f"its schema is no JSON: {error}") from None
        if size > SCHEMA_BYTES:
            raise _invalid(tool, f"it is larger than {SCHEMA_BYTES // 1024} KiB")


def require_answered(turns: Sequence[Turn]) -> None:
    """Refuse a conversation in which a call has no result, or a result no call.

    Raises:
        VrError: INVALID_INPUT, category TOOL_CALLS_UNPAIRED.
    """
    asked: list[str] = []
    for turn in turns:
        calls, answered = turn.calls, [result.id for result in turn.results]
        if (calls and turn.speaker != "model") or (answered and turn.speaker != "user"):
            raise _unpaired("a model makes calls, and a user answers them")
        if sorted(asked) != sorted(answered) or len(asked) != len({*asked}):
            raise _unpaired(f"{asked or 'no call'} is answered by {answered or 'no result'}")
        asked = [call.id for call in calls]
    if asked:
        raise _unpaired(f"{asked} is answered by no result")


def with_own_state(request: Request, model: str) -> Request:
    """The request to a model, without the state that others made."""
    if all(turn.state is None for turn in request.turns):
        return request
    return replace(request, turns=tuple(_for_maker(turn, model) for turn in request.turns))


def _for_maker(turn: Turn, model: str) -> Turn:
    own = isinstance(turn.state, Mapping) and turn.state.get(_MODEL) == model
    return turn if own or turn.state is None else replace(turn, state=None)


def asked_model(reply: Reply) -> str:
    """The model that a reply to a request with tools was asked of, as `provider/model`."""
    return str((reply.state or {}).get(_MODEL, ""))


def marked(reply: Reply, request: Request, model: str) -> Reply:
    """The reply with the name of the model that was asked in its state, if it has one.

    An answer in a shape is no turn of a conversation: it needs no state.
    """
    if request.schema is not None or (not request.tools and reply.state is None):
        return reply.model_copy(update={"state": None})
    return reply.model_copy(update={"state": {**(reply.state or {}), _MODEL: model}})


def with_calls_settled(reply: Reply, request: Request) -> Reply:
    """The reply with calls that can be shown, kept and told apart, and not too many of them.

    An id that is missing or was used before is replaced, by the same one each time.
    """
    if not reply.calls:
        return reply
    taken = {call.id for turn in request.turns for call in turn.calls}
    calls: list[ToolCall] = []
    for number, call in enumerate(reply.calls[:MOST_CALLS], 1):
        id_ = visible(call.id) or f"call-{len(request.turns)}-{number}"
        while id_ in taken:
            id_ = f"{id_}-{number}"
        taken.add(id_)
        calls.append(_shown(replace(call, id=id_, name=visible(call.name))))
    notes = list(reply.notes)
    if len(reply.calls) > MOST_CALLS:
        notes.append(f"{len(reply.calls)} tools were called at once; the first {MOST_CALLS} count.")
    return reply.model_copy(update={"calls": calls, "notes": notes})


def _shown(call: ToolCall) -> ToolCall:
    try:
        arguments = all_visible(dict(call.arguments), _text)
    except RecursionError:
        return replace(call, arguments={}, problem="The arguments are nested too deeply.")
    return replace(call, arguments=arguments, problem=visible(call.problem))


def _text(text: str) -> str:
    """A visible text, in which a path stays usable."""
    return result_text(text).encode("utf-8", "replace").decode("utf-8")


def _invalid(tool: ToolSpec, why: str) -> VrError:
    return VrError(
        f"The tool {visible(tool.name)[:100]!r} cannot be offered to a model: {why}.",
        Code.INVALID_INPUT,
        category="TOOL_INVALID",
        hint="Declare it with a plain name and a JSON schema of an object.",
    )


def _unpaired(why: str) -> VrError:
    return VrError(
        f"The calls and results of tools do not go together: {visible(why)[:300]}.",
        Code.INVALID_INPUT,
        category="TOOL_CALLS_UNPAIRED",
        hint="Answer each call of a reply in the next turn, with one ToolResult of its id.",
    )
