"""The fake Anthropic as the contract of model providers sees it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel.generation import ToolCall

from vr_testing.anthropic.request import AnthropicRequest, text_of
from vr_testing.anthropic.server import FakeAnthropic
from vr_testing.contracts.model_wire import FAILURES, Sent, Trouble
from vr_testing.service.answer import Answer, FunctionCall
from vr_testing.service.faults import ServiceFault
from vr_testing.service.wire import ServiceWire

_IN_BODY: frozenset[Trouble] = frozenset({"throttled_in_body"})


class AnthropicWire(ServiceWire[AnthropicRequest]):
    """Speaks for a running `FakeAnthropic`."""

    troubles: frozenset[Trouble] = frozenset(FAILURES) - _IN_BODY
    overloaded_status = 529

    def __init__(self, service: FakeAnthropic) -> None:
        super().__init__(service)

    def call(self, *calls: ToolCall, text: str = "") -> None:
        """See `ModelWire.call`; there is a signed thought before them."""
        made = tuple(FunctionCall(each.name, dict(each.arguments), each.id) for each in calls)
        self.service.answer(Answer(text, thought="Let me see.", calls=made), times=1)

    def bad_key(self) -> ServiceFault:
        """401."""
        return ServiceFault.status(401)

    def read(self, request: AnthropicRequest) -> Sent:
        """A question as it came over the wire."""
        return Sent(
            model=request.model,
            turns=tuple(
                ("model" if each["role"] == "assistant" else "user", text_of(each))
                for each in request.messages
            ),
            system=request.system,
            schema=request.schema,
            media=len(request.media),
            key=request.api_key,
            tools={each["name"]: each["input_schema"] for each in request.tools},
            calls=tuple((each["name"], each["input"]) for each in request.blocks("tool_use")),
            results=tuple(_result(each) for each in request.blocks("tool_result")),
        )


def _result(block: Mapping[str, Any]) -> str:
    return str(block["content"])
