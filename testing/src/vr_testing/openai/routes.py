"""Routes each request of an OpenAI-compatible service to its answer."""

from __future__ import annotations

import base64
import struct
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.openai.behaviour import OpenAIBehaviour
from vr_testing.openai.content import chunks, usage_fields, whole
from vr_testing.openai.errors import as_error, too_long, unknown_model, unsupported
from vr_testing.openai.request import OpenAIRequest
from vr_testing.service.answer import Answer
from vr_testing.service.bill import json_tokens, text_tokens
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.json_family import JsonFamily
from vr_testing.service.reply import HttpReply, as_events, as_json
from vr_testing.service.vectors import vector

PICTURE_TOKENS = 85
"""Tokens of a picture at low detail, as OpenAI documents it."""


class OpenAIRoutes(JsonFamily[OpenAIRequest]):
    """Answers the requests of one fake service, and writes its bill."""

    request_type = OpenAIRequest
    behaviour: OpenAIBehaviour

    def error(self, error: ServiceError) -> HttpReply:
        """The error with its body."""
        return as_error(error)

    def error_event(self, body: bytes) -> bytes:
        """The body of an error as an event of a stream."""
        return b"data: " + body + b"\n\n"

    def reply(self, request: OpenAIRequest, fault: ServiceFault | None) -> HttpReply:
        """The answer to a request.

        Raises:
            ServiceError: for a request that is refused.
        """
        if request.action == "models.list":
            return self._models()
        if request.action == "embeddings":
            return self._embed(request)
        if request.action == "chat.completions":
            return self._chat(request, fault.alter if fault is not None else None)
        raise ServiceError(404, f"Invalid URL ({request.method} {request.path})")

    def _check(self, request: OpenAIRequest) -> None:
        behaviour, body = self.behaviour, request.body
        if behaviour.models is not None and request.model not in behaviour.models:
            raise unknown_model(request.model)
        form = (body.get("response_format") or {}).get("type")
        if form == "json_schema" and not behaviour.native_schema:
            raise unsupported("'response_format' of type 'json_schema'")
        if request.tools and not behaviour.native_tools:
            raise unsupported("'tools'")
        if request.media and not behaviour.takes_images:
            raise unsupported("'image_url'")
        for name in behaviour.refused & body.keys():
            raise unsupported(f"'{name}'")
        tokens = self._tokens(request)
        if behaviour.context and tokens > behaviour.context:
            raise too_long(tokens, behaviour.context)

    def _chat(self, request: OpenAIRequest, alter: Callable[[Answer], Answer] | None) -> HttpReply:
        self._check(request)
        limit = request.body.get("max_completion_tokens") or request.body.get("max_tokens")
        answer = self.script.answer_to(request).within(limit)
        answer = answer if alter is None else alter(answer)
        usage = Usage(
            calls=1,
            input_tokens=self._tokens(request),
            output_tokens=text_tokens(answer.text) + json_tokens([c.shown for c in answer.calls]),
            thinking_tokens=0 if answer.blocked else text_tokens(answer.thought),
        )
        usage = self.behaviour.charged(request.model, usage)
        self.bill.add(usage, request.model)
        shown = usage_fields(usage, self.behaviour.usage)
        if not request.streams:
            return as_json(whole(answer, request, shown))
        made = as_events(chunks(answer, request, shown))
        return replace(made, events=(*made.events, b"data: [DONE]\n\n"))

    def _embed(self, request: OpenAIRequest) -> HttpReply:
        if self.behaviour.models is not None and request.model not in self.behaviour.models:
            raise unknown_model(request.model)
        size = int(request.body.get("dimensions") or self.behaviour.dimension)
        tokens = sum(text_tokens(str(text)) for text in request.inputs)
        if len(request.inputs) > self.behaviour.embedded_items:
            raise ServiceError(400, f"too many inputs: {len(request.inputs)}")
        if tokens > self.behaviour.embedded_tokens:
            raise ServiceError(400, f"too many tokens of all inputs: {tokens}")
        usage = Usage(calls=1, input_tokens=tokens)
        self.bill.add(self.behaviour.charged(request.model, usage), request.model)
        packed = request.body.get("encoding_format") == "base64"
        data = [
            {"object": "embedding", "index": at, "embedding": _encoded(str(text), size, packed)}
            for at, text in enumerate(request.inputs)
        ]
        used = {"prompt_tokens": tokens, "total_tokens": tokens}
        return as_json({"object": "list", "data": data, "model": request.model, "usage": used})

    def _models(self) -> HttpReply:
        listed = [{"id": name, "object": "model"} for name in sorted(self.behaviour.models or ())]
        return as_json({"object": "list", "data": listed})

    def _tokens(self, request: OpenAIRequest) -> int:
        said = text_tokens(request.text) + text_tokens(request.system)
        called = [each.get("tool_calls") for each in request.messages if each.get("tool_calls")]
        declared = json_tokens(request.tools) + json_tokens(called)
        return said + declared + PICTURE_TOKENS * len(request.media)


def _encoded(text: str, size: int, packed: bool) -> Any:
    found = vector(text, size)
    return base64.b64encode(struct.pack(f"<{size}f", *found)).decode() if packed else found
