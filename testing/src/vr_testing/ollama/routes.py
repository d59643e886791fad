"""Routes each request of an Ollama server to its answer."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

from vr_kernel.generation import Usage

from vr_testing.ollama.behaviour import OllamaBehaviour
from vr_testing.ollama.request import OllamaRequest
from vr_testing.ollama.window import without_first
from vr_testing.service.answer import Answer, in_pieces
from vr_testing.service.bill import json_tokens, text_tokens
from vr_testing.service.errors import ServiceError
from vr_testing.service.faults import ServiceFault
from vr_testing.service.json_family import JsonFamily
from vr_testing.service.reply import HttpReply, as_json
from vr_testing.service.vectors import vector

PICTURE_TOKENS = 256
BY_LEVEL = "gpt-oss"
"""The models that take a level of thinking; all others only take whether to think."""
_DONE = {"STOP": "stop", "MAX_TOKENS": "length"}


class OllamaRoutes(JsonFamily[OllamaRequest]):
    """Answers the requests of one fake server, and counts its tokens."""

    request_type = OllamaRequest
    behaviour: OllamaBehaviour

    def error(self, error: ServiceError) -> HttpReply:
        """The error with its body."""
        said = error.message or f"the server failed with {error.code}"
        body = json.dumps({"error": said}).encode()
        headers = {"Content-Type": "application/json", **error.headers}
        return HttpReply(status=error.code, body=body, headers=headers)

    def error_event(self, body: bytes) -> bytes:
        """The body of an error as an event of a stream."""
        return body + b"\n"

    def reply(self, request: OllamaRequest, fault: ServiceFault | None) -> HttpReply:
        """The answer to a request.

        Raises:
            ServiceError: for a request that is refused.
        """
        table: dict[str, Callable[[OllamaRequest], HttpReply]] = {
            "tags": self._tags,
            "show": self._show,
            "version": lambda _request: as_json({"version": "0.99.0"}),
            "embed": self._embed,
        }
        if request.action in table:
            return table[request.action](request)
        if request.action == "chat":
            return self._chat(request, fault.alter if fault is not None else None)
        raise ServiceError(404, "404 page not found")

    def _require_model(self, request: OllamaRequest) -> None:
        models = self.behaviour.models
        if models is not None and request.model not in models:
            raise ServiceError(404, f"model '{request.model}' not found")

    def _tags(self, _request: OllamaRequest) -> HttpReply:
        names = sorted(self.behaviour.models or ())
        return as_json({"models": [{"name": name, "model": name} for name in names]})

    def _show(self, request: OllamaRequest) -> HttpReply:
        self._require_model(request)
        able = ["completion", *sorted(self.behaviour.capabilities)]
        info = {"general.architecture": "fake", "fake.context_length": self.behaviour.window}
        told = {"capabilities": able} if self.behaviour.tells_capabilities else {}
        return as_json({**told, "model_info": info, "details": {}})

    def _embed(self, request: OllamaRequest) -> HttpReply:
        self._require_model(request)
        size = int(request.field("dimensions") or self.behaviour.dimension)
        tokens = sum(map(text_tokens, request.inputs))
        self.bill.add(Usage(calls=1, input_tokens=tokens), request.model)
        vectors = [vector(text, size) for text in request.inputs]
        return as_json({"model": request.model, "embeddings": vectors, "prompt_eval_count": tokens})

    def _chat(self, request: OllamaRequest, alter: Callable[[Answer], Answer] | None) -> HttpReply:
        self._require_model(request)
        if request.tools and "tools" not in self.behaviour.capabilities:
            raise ServiceError(400, f"{request.model} does not support tools")
        _check_think(request, self.behaviour.capabilities)
        tokens, window = self._tokens(request), self._window(request)
        seen = without_first(request, tokens - window)
        limit = (request.field("options") or {}).get("num_predict")
        answer = self.script.answer_to(seen).within(limit)
        answer = answer if alter is None else alter(answer)
        answer = replace(answer, text="") if answer.blocked else answer
        usage = Usage(
            calls=1,
            input_tokens=min(tokens, window),
            output_tokens=text_tokens(answer.text + answer.thought)
            + json_tokens([call.shown for call in answer.calls]),
        )
        self.bill.add(usage, request.model)
        lines = _lines(answer, request)
        lines[-1] |= _counts(usage, self.behaviour.usage)
        if not request.streams:
            return as_json(_joined(lines))
        frames = tuple(json.dumps(line).encode() + b"\n" for line in lines)
        return HttpReply(events=frames, headers={"Content-Type": "application/x-ndjson"})

    def _window(self, request: OllamaRequest) -> int:
        behaviour = self.behaviour
        if behaviour.ignores_window or not request.window:
            return behaviour.default_window
        return min(request.window, behaviour.window)

    def _tokens(self, request: OllamaRequest) -> int:
        said = text_tokens(request.text) + text_tokens(request.system)
        called = [each["tool_calls"] for each in request.messages if each.get("tool_calls")]
        declared = json_tokens([*request.tools]) + json_tokens(called)
        return said + declared + PICTURE_TOKENS * len(request.media)


def _check_think(request: OllamaRequest, capabilities: set[str]) -> None:
    think = request.field("think")
    if think and "thinking" not in capabilities:
        raise ServiceError(400, f"{request.model} does not support thinking")
    if isinstance(think, str) and BY_LEVEL not in request.model:
        raise ServiceError(400, f'think value "{think}" is not supported for this model')


def _lines(answer: Answer, request: OllamaRequest) -> list[dict[str, Any]]:
    """The lines of a stream, without the usage that the last one has."""
    head = {"model": request.model, "created_at": "2026-11-26T00:00:00Z"}
    messages: list[dict[str, Any]] = []
    if answer.thought:
        messages.append({"thinking": answer.thought, "content": ""})
    messages += [{"content": piece} for piece in in_pieces(answer.text)]
    if answer.calls:
        calls = [{"function": {"name": c.name, "arguments": c.args}} for c in answer.calls]
        messages.append({"content": "", "tool_calls": calls})
    made = [{**head, "message": {"role": "assistant", **each}, "done": False} for each in messages]
    last = {
        "message": {"role": "assistant", "content": ""},
        "done": True,
        "done_reason": _DONE.get(answer.finish, "stop"),
    }
    return [*made, {**head, **last}]


def _counts(usage: Usage, kind: str) -> dict[str, int]:
    if kind == "missing":
        return {}
    asked, said = usage.input_tokens, usage.output_tokens
    known = kind == "normal"
    return {"prompt_eval_count": asked if known else -1, "eval_count": said if known else -1}


def _joined(lines: list[dict[str, Any]]) -> dict[str, Any]:
    """The whole answer of the lines of a stream."""
    message: dict[str, Any] = {"role": "assistant", "content": ""}
    for line in lines:
        said: Mapping[str, Any] = line["message"]
        message["content"] += said["content"]
        message |= {name: said[name] for name in ("thinking", "tool_calls") if name in said}
    return {**lines[-1], "message": message}
