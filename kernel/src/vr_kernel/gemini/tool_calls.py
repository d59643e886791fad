"""Calls of tools in Google's types, with the thought signatures that come and go with them."""

from __future__ import annotations

import base64
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel.generation import ToolCall, ToolResult, ToolSpec, Turn

if TYPE_CHECKING:
    from google.genai import types

UNSIGNED = "skip_thought_signature_validator"
"""Google's signature for calls that its model did not make; Gemini 3 refuses them without one."""


def declarations(tools: Sequence[ToolSpec]) -> types.Tool:
    """The declarations of tools."""
    from google.genai import types

    return types.Tool(
        function_declarations=[
            types.FunctionDeclaration(
                name=tool.name,
                description=tool.description,
                parameters_json_schema=dict(tool.schema),
            )
            for tool in tools
        ]
    )


class PartsRead:
    """The parts of an answer as they arrive: its calls, and the state that puts them back.

    The state lists the parts as they came: `chars` of text, a `call` (True with an id of its own)
    or a `thought`, each with its `signature`, if any, in Base64.
    """

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self._parts: list[dict[str, Any]] = []

    def take(self, part: types.Part) -> str:
        """Read one part, and return the words that it adds."""
        signed = {"signature": _text(part.thought_signature)} if part.thought_signature else {}
        if part.function_call is not None:
            made = part.function_call
            self.calls.append(ToolCall.read(made.id or "", made.name or "", made.args or {}))
            self._parts.append({"call": bool(made.id), **signed})
        elif part.thought and signed:
            self._parts.append({"thought": part.text or "", **signed})
        elif not part.thought and (part.text or signed):  # a signature may come without a text
            text = part.text or ""
            last = self._parts[-1] if self._parts else {}
            if not signed and "chars" in last and "signature" not in last:
                last["chars"] += len(text)
            else:
                self._parts.append({"chars": len(text), **signed})
            return text
        return ""

    @property
    def state(self) -> dict[str, Any] | None:
        """The state of the turn; None when its words and calls say it all."""
        if any("signature" in part or part.get("call") is False for part in self._parts):
            return {"parts": self._parts}
        return None


def model_parts(turn: Turn, sent: dict[str, types.FunctionCall]) -> list[types.Part]:
    """A model's turn as it came, or as another model's.

    Args:
        turn: with the state that Gemini gave it, if Gemini made it.
        sent: is given the calls as they are sent, by their ids.
    """
    if turn.state is not None:
        try:
            return _as_it_came(turn, turn.state, sent)
        except (AttributeError, KeyError, TypeError, ValueError):
            pass  # a state that was damaged is none
    from google.genai import types

    parts = [types.Part(text=turn.text)] if turn.text else []
    for call in turn.calls:
        sent[call.id] = _call(call, is_own_id=True)
        unsigned = None if len(parts) > bool(turn.text) else _bytes(UNSIGNED)
        parts.append(types.Part(function_call=sent[call.id], thought_signature=unsigned))
    return parts


def result_part(result: ToolResult, sent: Mapping[str, types.FunctionCall]) -> types.Part:
    """The result of a call that was sent before it."""
    from google.genai import types

    call = sent[result.id]
    response = {"error" if result.failed else "output": result.content}
    answer = types.FunctionResponse(id=call.id, name=call.name, response=response)
    return types.Part(function_response=answer)


def _as_it_came(
    turn: Turn, state: Mapping[str, Any], sent: dict[str, types.FunctionCall]
) -> list[types.Part]:
    from google.genai import types

    text, calls = turn.text, iter(turn.calls)
    listed = state["parts"]
    if sum(part.get("chars", 0) for part in listed) != len(text):
        raise ValueError("the words were changed")
    if sum("call" in part for part in listed) < len(turn.calls):
        raise ValueError("a call was added")
    parts = []
    for part in listed:
        signature = _bytes(part["signature"]) if "signature" in part else None
        made = types.Part(thought_signature=signature)
        if "chars" in part:
            made.text, text = text[: part["chars"]], text[part["chars"] :]
        elif "thought" in part:
            made.text, made.thought = part["thought"], True
        elif (call := next(calls, None)) is not None:
            made.function_call = sent[call.id] = _call(call, is_own_id=part["call"])
        else:
            continue  # one of too many, which was left out
        parts.append(made)
    return parts


def _call(call: ToolCall, *, is_own_id: bool) -> types.FunctionCall:
    from google.genai import types

    own = call.id if is_own_id else None
    return types.FunctionCall(id=own, name=call.name, args=dict(call.arguments))


def _text(signature: bytes) -> str:
    return base64.urlsafe_b64encode(signature).decode()


def _bytes(signature: str) -> bytes:
    return base64.urlsafe_b64decode(signature)
