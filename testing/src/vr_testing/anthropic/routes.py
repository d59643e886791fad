"""Routes each request of the Messages API to its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.anthropic.behaviour import AnthropicBehaviour
from vr_testing.anthropic.content import events, signature_of, usage_fields, whole
from vr_testing.anthropic.errors import as_error
from vr_testing.anthropic.request import AnthropicRequest, blocks_of
from vr_testing.service.answer import Answer
from vr_testing.service.bill import json_tokens, text_tokens
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.json_family import JsonFamily
from vr_testing.service.reply import HttpReply, as_json
from vr_testing.service.script import Script

PICTURE_TOKENS = 1_600


class AnthropicRoutes(JsonFamily[AnthropicRequest]):
    """Answers the requests of one fake service, and writes its bill."""

    request_type = AnthropicRequest
    behaviour: AnthropicBehaviour

    def __init__(self, behaviour: AnthropicBehaviour, script: Script) -> None:
        super().__init__(behaviour, script)
        self._kept: set[str] = set()

    def error(self, error: ServiceError) -> HttpReply:
        """The error with its body."""
        return as_error(error)

    def error_event(self, body: bytes) -> bytes:
        """The body of an error as an event of a stream."""
        return b"event: error\ndata: " + body + b"\n\n"

    def reply(self, request: AnthropicRequest, fault: ServiceFault | None) -> HttpReply:
        """The answer to a request.

        Raises:
            ServiceError: for a request that is refused.
        """
        if request.action == "models.list":
            listed = [{"type": "model", "id": name} for name in sorted(self.behaviour.models or ())]
            return as_json({"data": listed, "has_more": False, "first_id": None, "last_id": None})
        if request.action == "messages.count_tokens":
            return as_json({"input_tokens": self._tokens(request)})
        if request.action == "messages":
            return self._message(request, fault.alter if fault is not None else None)
        raise ServiceError(404)

    def _check(self, request: AnthropicRequest) -> None:
        behaviour, body = self.behaviour, request.body
        if behaviour.models is not None and request.model not in behaviour.models:
            raise ServiceError(404, f"model: {request.model}")
        if not isinstance(body.get("max_tokens"), int):
            raise ServiceError(400, "max_tokens: Field required")
        config = body.get("output_config") or {}
        if "format" in config and not behaviour.native_schema:
            raise ServiceError(400, "output_config.format: this model does not support json_schema")
        if ("effort" in config or "thinking" in body) and not behaviour.thinks:
            raise ServiceError(400, "thinking: adaptive thinking is not supported on this model")
        if "temperature" in body and "thinking" in body:
            raise ServiceError(400, "temperature may only be set to 1 when thinking is enabled")
        for name in behaviour.refused & body.keys():
            raise ServiceError(400, f"{name}: this field is not supported on this model")
        for message in request.messages:
            _check_message(message)
        _check_results(request)
        if behaviour.context and self._tokens(request) > behaviour.context:
            raise ServiceError(400, f"prompt is too long: {self._tokens(request)} tokens")

    def _message(
        self, request: AnthropicRequest, alter: Callable[[Answer], Answer] | None
    ) -> HttpReply:
        self._check(request)
        answer = self.script.answer_to(request).within(request.body["max_tokens"])
        answer = answer if alter is None else alter(answer)
        asked = self._tokens(request)
        is_kept = self.behaviour.caches and self._is_kept(request)
        usage = Usage(
            calls=1,
            input_tokens=asked,
            cached_tokens=asked if is_kept else 0,
            written_tokens=asked if self.behaviour.caches and not is_kept else 0,
            output_tokens=text_tokens(answer.text) + json_tokens([c.shown for c in answer.calls]),
            thinking_tokens=0 if answer.blocked else text_tokens(answer.thought),
        )
        self.bill.add(usage, request.model)
        shown = usage_fields(usage, self.behaviour.usage)
        if not request.streams:
            return as_json(whole(answer, request, shown))
        frames = _frames(events(answer, request, shown))
        return HttpReply(events=frames, headers={"Content-Type": "text/event-stream"})

    def _is_kept(self, request: AnthropicRequest) -> bool:
        """True when the same was asked before."""
        is_known = request.text in self._kept
        self._kept.add(request.text)
        return is_known

    def _tokens(self, request: AnthropicRequest) -> int:
        said = text_tokens(request.text) + text_tokens(request.system)
        called = [*request.blocks("tool_use"), *request.blocks("tool_result")]
        declared = json_tokens([*request.tools]) + json_tokens(called)
        return said + declared + PICTURE_TOKENS * len(request.media)


def _frames(made: Sequence[Mapping[str, Any]]) -> tuple[bytes, ...]:
    """The events as bytes, in the frames in which they are sent; words are in the first one."""
    kinds = [each["type"] for each in made]
    first = kinds.index("content_block_delta") + 1 if "content_block_delta" in kinds else 1
    sent = [_event(each) for each in made]
    return (b"".join(sent[:first]), *sent[first:])


def _event(value: Mapping[str, Any]) -> bytes:
    return f"event: {value['type']}\ndata: {json.dumps(value)}\n\n".encode()


def _check_message(message: Mapping[str, Any]) -> None:
    for block in blocks_of(message):
        if block["type"] == "text" and not block["text"].strip():
            raise ServiceError(400, "messages: text content blocks must be non-empty")
        if block["type"] == "thinking" and block["signature"] != signature_of(block["thinking"]):
            raise ServiceError(400, "messages: Invalid `signature` in `thinking` block")


def _check_results(request: AnthropicRequest) -> None:
    asked: list[str] = []
    for message in request.messages:
        blocks = blocks_of(message)
        answered = [block["tool_use_id"] for block in blocks if block["type"] == "tool_result"]
        if sorted(asked) != sorted(answered):
            raise ServiceError(400, "`tool_use` ids were found without `tool_result` blocks")
        asked = [block["id"] for block in blocks if block["type"] == "tool_use"]
        if len(asked) != len({*asked}):
            raise ServiceError(400, "messages: `tool_use` ids must be unique")
