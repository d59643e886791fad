"""The fake Ollama server as the contract of model providers sees it."""

from __future__ import annotations

from vr_kernel.generation import ToolCall

from vr_testing.contracts.model_wire import FAILURES, Sent, Trouble
from vr_testing.ollama.request import OllamaRequest
from vr_testing.ollama.server import FakeOllama
from vr_testing.service.answer import Answer, FunctionCall
from vr_testing.service.faults import ServiceFault
from vr_testing.service.wire import ServiceWire

FAILED = "Failed: "
"""Says that a tool failed; the protocol has no field for it."""
_LACKS: frozenset[Trouble] = frozenset({"throttled_in_body", "prompt_blocked", "answer_blocked"})
"""A model of one's own has no filter."""
_SPEAKERS = {"assistant": "model", "user": "user", "tool": "user"}


class OllamaWire(ServiceWire[OllamaRequest]):
    """Speaks for a running `FakeOllama`."""

    troubles: frozenset[Trouble] = frozenset(FAILURES) - _LACKS

    def __init__(self, service: FakeOllama) -> None:
        super().__init__(service)

    def call(self, *calls: ToolCall, text: str = "") -> None:
        """See `ModelWire.call`; the protocol has no ids."""
        made = tuple(FunctionCall(each.name, dict(each.arguments)) for each in calls)
        self.service.answer(Answer(text, calls=made), times=1)

    def bad_key(self) -> ServiceFault:
        """401."""
        return ServiceFault.status(401)

    def read(self, request: OllamaRequest) -> Sent:
        """A question as it came over the wire."""
        spoken = [each for each in request.messages if each["role"] in _SPEAKERS]
        return Sent(
            model=request.model,
            turns=tuple((_SPEAKERS[each["role"]], each.get("content") or "") for each in spoken),
            system=request.system,
            schema=request.schema,
            media=len(request.media),
            key=request.api_key,
            tools={each["name"]: each["parameters"] for each in request.tools},
            calls=tuple(
                (call["function"]["name"], call["function"]["arguments"])
                for each in request.messages
                for call in each.get("tool_calls") or []
            ),
            results=tuple(
                each["content"].removeprefix(FAILED) for each in spoken if each["role"] == "tool"
            ),
        )
