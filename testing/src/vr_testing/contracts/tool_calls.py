"""Tool calls of model providers: a part of their contract."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from vr_kernel.generation import Reply, Request, Text, ToolCall, ToolResult, ToolSpec, Turn
from vr_kernel.models.provider import ModelProvider
from vr_kernel.models.tool_calls import with_calls_settled

from vr_testing.contracts.failure_modes import SAID, FailureModeContract
from vr_testing.contracts.outcomes import drained

CITY: dict[str, Any] = {
    "type": "object",
    "properties": {"city": {"type": "string"}, "days": {"type": "integer"}},
    "required": ["city"],
}
WEATHER = ToolSpec("get_weather", "Tells the weather in a city.", CITY)
CLOCK = ToolSpec("get_time", "Tells the time in a city.", {**CITY, "properties": {"city": {}}})
BOTH = (ToolCall("a", "get_weather", {"city": "Oslo", "days": 2}), ToolCall("b", "get_time"))


class ToolCallContract(FailureModeContract):
    """The tests of tool calls; `ModelProviderContract` has them too.

    They pass for a provider that says of `model` that it takes no tools: the kernel then asks it
    for calls by a schema.
    """

    streamed = pytest.mark.parametrize("streamed", [False, True])

    async def test_declared_tools_reach_the_wire(self) -> None:
        """Names and schemas of tools are sent, in every request that has them."""
        async with self.opened() as (provider, wire):
            if self._has_tools(provider):
                await provider.generate(self.model, self._asking())
                assert wire.sent[0].tools.keys() == {"get_weather", "get_time"}
                schema = wire.sent[0].tools["get_weather"]
                assert set(schema["properties"]) == {"city", "days"}

    @streamed
    async def test_calls_come_back_beside_the_words(self, streamed: bool) -> None:
        """A reply has the calls in order, and the words; its usage is what the service bills."""
        async with self.opened() as (provider, wire):
            if self._has_tools(provider):
                wire.call(*BOTH, text=SAID)
                reply = await self._reply(provider, self._asking(), streamed=streamed)
                assert reply.text == SAID
                assert [_made(call) for call in reply.calls] == [_made(call) for call in BOTH]
                assert not any(call.problem for call in reply.calls)
                assert reply.usage == wire.bill

    @streamed
    async def test_calls_alone_are_a_reply(self, streamed: bool) -> None:
        """A reply may have no words."""
        async with self.opened() as (provider, wire):
            if self._has_tools(provider):
                wire.call(BOTH[0])
                reply = await self._reply(provider, self._asking(), streamed=streamed)
                assert (reply.text, len(reply.calls)) == ("", 1)

    @streamed
    @pytest.mark.parametrize("ids", [("a", "b"), ("a", "a"), ("", "")], ids="-".join)
    async def test_conversation_with_several_calls_goes_on(
        self, streamed: bool, ids: tuple[str, str]
    ) -> None:
        """Turns with calls and results are taken, each as it came, whatever ids the calls have."""
        async with self.opened() as (provider, wire):
            if not self._has_tools(provider):
                return
            made = [replace(call, id=id_) for call, id_ in zip(BOTH, ids, strict=True)]
            wire.call(*made, text=SAID)
            wire.call(ToolCall(ids[0], "get_time", {"city": "Rome"}))
            wire.answer("Sunny.")
            request = self._asking()
            for _ in range(2):
                reply = await self._reply(provider, request, streamed=streamed)
                request = _answered(request, reply)
            reply = await self._reply(provider, request, streamed=streamed)
            assert (reply.text, reply.calls) == ("Sunny.", [])
            sent = wire.sent[-1]
            assert [name for name, _ in sent.calls] == ["get_weather", "get_time", "get_time"]
            assert sent.calls[0][1] == BOTH[0].arguments
            assert sent.results == ("result 0", "result 1", "result 0")

    async def test_calls_of_another_model_are_taken(self) -> None:
        """A turn without the state of this provider, as another model made it, is understood."""
        async with self.opened() as (provider, wire):
            if self._has_tools(provider):
                reply = Reply(text=SAID, model="other", calls=list(BOTH))
                request = _answered(self._asking(), reply)
                wire.answer("Sunny.")
                assert (await provider.generate(self.model, request)).text == "Sunny."
                assert len(wire.sent[-1].results) == len(BOTH)

    async def test_results_may_be_followed_by_words(self) -> None:
        """A person's words reach the model together with results, of which one failed."""
        async with self.opened() as (provider, wire):
            if self._has_tools(provider):
                wire.call(BOTH[0])
                reply = await provider.generate(self.model, self._asking())
                request = _answered(self._asking(), reply, Text("Hurry."), failed=True)
                await provider.generate(self.model, request)
                assert wire.sent[-1].results == ("result 0",)
                assert wire.sent[-1].turns[-1][1].endswith("Hurry.")

    def _has_tools(self, provider: ModelProvider) -> bool:
        return any(info.tools for info in provider.models() if info.name == self.model)

    def _asking(self) -> Request:
        return self.request("How is the weather?", tools=(WEATHER, CLOCK))

    async def _reply(self, provider: ModelProvider, request: Request, *, streamed: bool) -> Reply:
        """The reply, with the ids that the kernel gives to its calls."""
        if streamed:
            pieces, reply = await drained(provider.stream(self.model, request))
            assert reply is not None
            assert "".join(piece.text for piece in pieces) == reply.text
        else:
            reply = await provider.generate(self.model, request)
        return with_calls_settled(reply, request)


def _answered(request: Request, reply: Reply, *more: Text, failed: bool = False) -> Request:
    """The conversation with a reply and the results of its calls."""
    reply = with_calls_settled(reply, request)
    results = [
        ToolResult(call.id, f"result {number}", failed) for number, call in enumerate(reply.calls)
    ]
    turns = (*request.turns, reply.turn, Turn("user", (*results, *more)))
    return Request(turns, tools=request.tools)


def _made(call: ToolCall) -> tuple[str, dict[str, Any]]:
    return call.name, dict(call.arguments)
