"""Calls of tools in Google's types, with the thought signatures that come and go with them."""

from __future__ import annotations

import base64
import hashlib
import json
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
    or a `thought`; if it has one, with its `signature` in Base64 and the digest of what was signed.
    """

    def __init__(self) -> None:
        self.calls: list[ToolCall] = []
        self._parts: list[dict[str, Any]] = []

    def take(self, part: types.Part) -> str:
        """Read one part, and return the words that it adds."""
        signature = part.thought_signature
        text = part.text or ""
        if part.function_call is not None:
            made = part.function_call
            call = ToolCall.read(made.id or "", made.name or "", made.args or {})
            self.calls.append(call)
            self._add({"call": bool(made.id)}, signature, [call.name, dict(call.arguments)])
        elif part.thought:
            if signature:
                self._add({"thought": text}, signature, text)
        elif text or signature:  # a signature may come without a text
            last = self._parts[-1] if self._parts else {}
            if not signature and "chars" in last and "signature" not in last:
                last["chars"] += len(text)
            else:
                self._add({"chars": len(text)}, signature, text)
            return text
        return ""

    @property
    def state(self) -> dict[str, Any] | None:
        """The state of the turn; None when its words and calls say it all."""
        if any("signature" in part or part.get("call") is False for part in self._parts):
            return {"parts": self._parts}
        return None

    def _add(self, part: dict[str, Any], signature: bytes | None, signed: Any) -> None:
        if signature:
            part["signature"] = base64.urlsafe_b64encode(signature).decode()
            part["digest"] = _digest(signed)
        self._parts.append(part)


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
    """The parts as they came, as far as they are still the same; signatures of others stay out."""
    from google.genai import types

    text, calls = turn.text, iter(turn.calls)
    listed = state["parts"]
    if sum("call" in part for part in listed) < len(turn.calls):
        raise ValueError("a call was added")
    is_cut = sum(part.get("chars", 0) for part in listed) == len(text)
    parts = []
    for part in listed:
        if "chars" in part:
            end = part["chars"] if is_cut else len(text)
            said, text = text[:end], text[end:]
            signature = _signature(part, said)
            if not said and signature is None:
                continue
            made = types.Part(text=said, thought_signature=signature)
        elif "thought" in part:
            said = part["thought"]
            made = types.Part(text=said, thought=True, thought_signature=_signature(part, said))
        elif (call := next(calls, None)) is not None:
            sent[call.id] = _call(call, is_own_id=part["call"])
            signature = _signature(part, [call.name, dict(call.arguments)])
            if signature is None and "signature" in part:
                signature = _bytes(UNSIGNED)
            made = types.Part(function_call=sent[call.id], thought_signature=signature)
        else:
            continue  # one of too many, which was left out
        parts.append(made)
    return [types.Part(text=text), *parts] if text else parts


def _signature(part: Mapping[str, Any], signed: Any) -> bytes | None:
    """The signature of a part; None when it has none, or was changed since."""
    fits = "signature" in part and part["digest"] == _digest(signed)
    return _bytes(part["signature"]) if fits else None


def _digest(signed: Any) -> str:
    return hashlib.sha256(json.dumps(signed, sort_keys=True).encode()).hexdigest()[:16]


def _call(call: ToolCall, *, is_own_id: bool) -> types.FunctionCall:
    from google.genai import types

    own = call.id if is_own_id else None
    return types.FunctionCall(id=own, name=call.name, args=dict(call.arguments))


def _bytes(signature: str) -> bytes:
    return base64.urlsafe_b64decode(signature)
