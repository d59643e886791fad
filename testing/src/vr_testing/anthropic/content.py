"""The JSON of a model's answer: whole, or as the events of a stream."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator, Mapping
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.anthropic.request import AnthropicRequest
from vr_testing.service.answer import Answer, in_pieces

_STOP = {"STOP": "end_turn", "MAX_TOKENS": "max_tokens"}


def whole(answer: Answer, request: AnthropicRequest, usage: Mapping[str, Any]) -> dict[str, Any]:
    """The body of a message."""
    return {
        **_head(request),
        "content": list(blocks(answer)),
        "stop_reason": stop_reason(answer),
        "stop_sequence": None,
        **usage,
    }


def events(
    answer: Answer, request: AnthropicRequest, usage: Mapping[str, Any]
) -> list[dict[str, Any]]:
    """The events of a stream; the usage of the first one is of its beginning."""
    begun = {**_head(request), "content": [], "stop_reason": None, **usage}
    if "output_tokens" in begun.get("usage", ()):
        begun["usage"] = {**begun["usage"], "output_tokens": 1}
    made: list[dict[str, Any]] = [{"type": "message_start", "message": begun}]
    for at, block in enumerate(blocks(answer)):
        made += _block_events(at, block)
    said = {"stop_reason": stop_reason(answer), "stop_sequence": None}
    made.append({"type": "message_delta", "delta": said, **usage})
    return [*made, {"type": "message_stop"}]


def blocks(answer: Answer) -> Iterator[dict[str, Any]]:
    """The blocks of an answer; thoughts are signed."""
    if answer.thought:
        signed = {"thinking": answer.thought, "signature": signature_of(answer.thought)}
        yield {"type": "thinking", **signed}
    if answer.text:
        yield {"type": "text", "text": answer.text}
    for at, call in enumerate(answer.calls):
        yield {
            "type": "tool_use",
            "id": call.id or f"toolu_{at}",
            "name": call.name,
            "input": call.args,
        }


def signature_of(thought: str) -> str:
    """The signature of a thought: it fits no other."""
    return hashlib.sha256(thought.encode()).hexdigest()


def stop_reason(answer: Answer) -> str:
    """The reason for the end of an answer."""
    if answer.calls:
        return "tool_use"
    return "refusal" if answer.blocked else _STOP.get(answer.finish, "refusal")


def usage_fields(usage: Usage, kind: str) -> dict[str, Any]:
    """The usage of an answer: `normal`, with thinking in the output, `missing`, or `foreign`."""
    if kind == "missing":
        return {}
    if kind == "foreign":
        return {"usage": {"tokens": {"in": usage.input_tokens}, "input_tokens": -1}}
    counts = {
        "input_tokens": usage.input_tokens - usage.cached_tokens - usage.written_tokens,
        "cache_read_input_tokens": usage.cached_tokens,
        "cache_creation_input_tokens": usage.written_tokens,
        "output_tokens": usage.output_tokens + usage.thinking_tokens,
        "output_tokens_details": {"thinking_tokens": usage.thinking_tokens},
    }
    return {"usage": counts}


def _head(request: AnthropicRequest) -> dict[str, Any]:
    return {"id": "msg_fake", "type": "message", "role": "assistant", "model": request.model}


def _block_events(at: int, block: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    empty, deltas = _opened(block)
    yield {"type": "content_block_start", "index": at, "content_block": empty}
    for delta in deltas:
        yield {"type": "content_block_delta", "index": at, "delta": delta}
    yield {"type": "content_block_stop", "index": at}


def _opened(block: Mapping[str, Any]) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """A block as it begins, and what is added to it."""
    if block["type"] == "text":
        pieces = [{"type": "text_delta", "text": piece} for piece in in_pieces(block["text"])]
        return {"type": "text", "text": ""}, pieces
    if block["type"] == "thinking":
        return {"type": "thinking", "thinking": "", "signature": ""}, [
            {"type": "thinking_delta", "thinking": block["thinking"]},
            {"type": "signature_delta", "signature": block["signature"]},
        ]
    text = json.dumps(block["input"])
    pieces = [{"type": "input_json_delta", "partial_json": piece} for piece in in_pieces(text)]
    return {**block, "input": {}}, pieces
