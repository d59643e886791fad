"""The fake OpenAI-compatible service as the contract of model providers sees it."""

from __future__ import annotations

import json
from typing import Any

from vr_kernel.generation import ToolCall

from vr_testing.contracts.model_wire import FAILURES, Sent, Trouble
from vr_testing.openai.request import OpenAIRequest, text_of
from vr_testing.openai.server import FakeOpenAI
from vr_testing.service.answer import Answer, FunctionCall
from vr_testing.service.faults import ServiceFault
from vr_testing.service.wire import ServiceWire

FAILED = "Failed: "
"""Says that a tool failed, where the protocol has no field for it."""
_IN_BODY: frozenset[Trouble] = frozenset({"throttled_in_body"})
_SPEAKERS = {"assistant": "model", "user": "user", "tool": "user"}


class OpenAIWire(ServiceWire[OpenAIRequest]):
    """Speaks for a running `FakeOpenAI`."""

    troubles: frozenset[Trouble] = frozenset(FAILURES) - _IN_BODY

    def __init__(self, service: FakeOpenAI) -> None:
        super().__init__(service)

    def call(self, *calls: ToolCall, text: str = "") -> None:
        """See `ModelWire.call`."""
        made = tuple(FunctionCall(each.name, dict(each.arguments), each.id) for each in calls)
        self.service.answer(Answer(text, calls=made), times=1)

    def bad_key(self) -> ServiceFault:
        """401."""
        return ServiceFault.status(401)

    def read(self, request: OpenAIRequest) -> Sent:
        """A question as it came over the wire."""
        spoken = [each for each in request.messages if each["role"] in _SPEAKERS]
        return Sent(
            model=request.model,
            turns=tuple((_SPEAKERS[each["role"]], text_of(each)) for each in spoken),
            system=request.system,
            schema=request.schema,
            media=len(request.media),
            key=request.api_key,
            tools={each["name"]: each.get("parameters") or {} for each in request.tools},
            calls=tuple(
                (call["function"]["name"], _arguments(call["function"]["arguments"]))
                for each in request.messages
                for call in each.get("tool_calls") or []
            ),
            results=tuple(
                text_of(each).removeprefix(FAILED) for each in spoken if each["role"] == "tool"
            ),
        )


def _arguments(text: str) -> Any:
    return json.loads(text)
