"""The JSON of a model's answer: whole, or in the chunks of a stream."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.openai.request import OpenAIRequest
from vr_testing.service.answer import Answer, FunctionCall, in_pieces

_FINISH = {"STOP": "stop", "MAX_TOKENS": "length"}


def whole(answer: Answer, request: OpenAIRequest, usage: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a chat completion."""
    message: dict[str, Any] = {"role": "assistant", "content": answer.text or None}
    if answer.blocked:
        message["refusal"] = f"I can't help with that ({answer.blocked})."
    if answer.thought:
        message["reasoning_content"] = answer.thought
    if answer.calls:
        message["tool_calls"] = [_call(each, at) for at, each in enumerate(answer.calls)]
    choice = {"index": 0, "message": message, "finish_reason": _finish(answer)}
    return {**_envelope(request, "chat.completion"), "choices": [choice], **usage}


def chunks(
    answer: Answer, request: OpenAIRequest, usage: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The chunks of a stream; the last has the usage and no choice."""
    first, *rest = in_pieces(answer.text) or [""]
    deltas: list[dict[str, Any]] = [{"role": "assistant", "content": first}]
    if answer.thought:
        deltas.insert(0, {"role": "assistant", "reasoning_content": answer.thought})
    deltas += [{"content": piece} for piece in rest]
    if answer.blocked:
        deltas.append({"refusal": f"I can't help with that ({answer.blocked})."})
    for at, call in enumerate(answer.calls):
        deltas += _call_deltas(call, at)
    head = _envelope(request, "chat.completion.chunk")
    made = [{**head, "choices": [_choice(delta, None)]} for delta in deltas]
    made.append({**head, "choices": [_choice({}, _finish(answer))]})
    options = request.body.get("stream_options") or {}
    if options.get("include_usage") and usage:
        made.append({**head, "choices": [], **usage})
    return made


def usage_fields(usage: Usage, kind: str) -> dict[str, Any]:
    """The usage of an answer: `normal`, `missing`, or `foreign`, under other names."""
    if kind == "missing":
        return {}
    if kind == "foreign":
        return {"usage": {"tokens": {"in": usage.input_tokens}, "prompt_tokens": None}}
    said = usage.output_tokens + usage.thinking_tokens
    counts: dict[str, Any] = {
        "prompt_tokens": usage.input_tokens,
        "completion_tokens": said,
        "total_tokens": usage.input_tokens + said,
        "completion_tokens_details": {"reasoning_tokens": usage.thinking_tokens},
        "prompt_tokens_details": {"cached_tokens": usage.cached_tokens},
    }
    if usage.cost_usd is not None:
        counts["cost"] = usage.cost_usd
    return {"usage": counts}


def _finish(answer: Answer) -> str:
    if answer.calls:
        return "tool_calls"
    return "stop" if answer.blocked else _FINISH.get(answer.finish, "content_filter")


def _choice(delta: Mapping[str, Any], finish: str | None) -> dict[str, Any]:
    return {"index": 0, "delta": dict(delta), "finish_reason": finish}


def _call(call: FunctionCall, at: int) -> dict[str, Any]:
    text = call.args if isinstance(call.args, str) else json.dumps(call.args)
    function = {"name": call.name, "arguments": text}
    return {"id": call.id or f"call_{at}", "type": "function", "function": function}


def _call_deltas(call: FunctionCall, at: int) -> list[dict[str, Any]]:
    made = _call(call, at)
    arguments = made["function"]["arguments"]
    begin = {**made, "index": at, "function": {"name": call.name, "arguments": ""}}
    rest: Sequence[str] = [arguments[: len(arguments) // 2], arguments[len(arguments) // 2 :]]
    more = [{"index": at, "function": {"arguments": piece}} for piece in rest]
    return [{"tool_calls": [each]} for each in (begin, *more)]


def _envelope(request: OpenAIRequest, kind: str) -> dict[str, Any]:
    return {"id": "chatcmpl-fake", "object": kind, "created": 0, "model": request.model}
