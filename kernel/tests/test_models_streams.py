"""Streams in work that is kept: a whole reply is a step before its last piece is handed on."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import aclosing, suppress
from typing import Any

import pytest
from paid_work import Found, paid_kernel
from vr_kernel import (
    CALLS_OUT,
    READ_ONLY,
    Call,
    Kernel,
    Reply,
    ReplyPiece,
    ToolSpec,
    VrError,
    cache_key,
)
from vr_kernel import tool as as_tool
from vr_testing import Answer, FakeGemini, Fault, FunctionCall

STREAMED = "streamGenerateContent"
TEXT = "The cat sat on the mat, and then it went out to look for the moon."
LOOK = ToolSpec("look", "Looks.", {"type": "object"})


class Listener:
    """A tool that streams once; what it heard, and where it stops listening."""

    def __init__(self) -> None:
        self.heard: list[list[ReplyPiece]] = []
        self.leave_after = 0
        self.fail_at_the_end = False
        self.begun = asyncio.Event()

    async def listen(self, call: Call) -> Reply | None:
        self.heard.append([])
        stream: Any = call.services.models.stream("Why?", tools=[LOOK])
        async with aclosing(stream) as pieces:
            async for piece in pieces:
                self.heard[-1].append(piece)
                self.begun.set()
                if len(self.heard[-1]) == self.leave_after:
                    return None
                if piece.reply is not None and self.fail_at_the_end:
                    raise VrError("Enough was heard.")
        return self.heard[-1][-1].reply

    def tool(self) -> Any:
        """The tool."""

        @as_tool(effects=READ_ONLY | CALLS_OUT)
        async def paid_listening(call: Call) -> Found:
            """Listen once."""

            async def produce(shared: Call) -> Found:
                reply = await self.listen(shared)
                if reply is None:
                    raise VrError("Enough was heard.")
                return Found(text=reply.text)

            return await call.once(cache_key(listen="once"), Found, produce)

        return paid_listening


@pytest.fixture
def listener() -> Listener:
    return Listener()


@pytest.fixture
async def listening(
    environ: dict[str, str], gemini: FakeGemini, make_plugin: Any, listener: Listener
) -> AsyncIterator[Kernel]:
    """A kernel with that tool."""
    async with paid_kernel(environ, gemini, plugin=make_plugin([listener.tool()])) as kernel:
        yield kernel


async def sums(kernel: Kernel) -> Any:
    """The sums of the usage ledger."""
    report: Any = await kernel.call("infra_usage")
    return report.total


async def test_a_committed_stream_is_found_again_in_one_piece(
    listening: Kernel, gemini: FakeGemini, listener: Listener
) -> None:
    gemini.answer(Answer(TEXT, calls=(FunctionCall("look"),), signed=True))
    listener.fail_at_the_end = True
    failed = await listening.run("paid_listening", {})
    listener.fail_at_the_end = False
    again = await listening.run("paid_listening", {})
    first, second = listener.heard
    assert len(first) > 2
    assert "".join(piece.text for piece in first) == TEXT
    assert [piece.text for piece in second] == [TEXT, ""]
    assert first[-1].reply == second[-1].reply
    assert isinstance(failed.error, VrError)
    assert again.result == Found(text=TEXT)
    assert len(gemini.requests_of(STREAMED)) == 1
    assert failed.error.usage == again.usage == gemini.bill
    total = await sums(listening)
    assert (total.calls, total.attempts, total.maybe_paid) == (1, 1, 0)


async def test_a_stream_that_is_left_is_not_committed_and_closes_its_connection(
    listening: Kernel, gemini: FakeGemini, listener: Listener
) -> None:
    gemini.answer(TEXT)
    gemini.pause = 600
    listener.leave_after = 1
    assert (await listening.run("paid_listening", {})).error is not None
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    gemini.pause = listener.leave_after = 0
    assert await listening.call("paid_listening") == Found(text=TEXT)
    assert len(gemini.requests_of(STREAMED)) == 2
    total = await sums(listening)
    assert (total.calls, total.attempts, total.maybe_paid) == (1, 2, 1)


async def test_a_listener_that_is_cancelled_ends_its_stream(
    listening: Kernel, gemini: FakeGemini, listener: Listener
) -> None:
    gemini.answer(TEXT)
    gemini.pause = 600
    call = asyncio.create_task(listening.run("paid_listening", {}))
    await listener.begun.wait()
    call.cancel()
    with suppress(asyncio.CancelledError):
        await call
    await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 1)
    gemini.pause = 0
    assert await listening.call("paid_listening") == Found(text=TEXT)


@pytest.mark.parametrize("fault", [Fault.truncated("closed"), Fault.truncated("clean")])
async def test_a_stream_that_breaks_off_is_an_error_and_no_step(
    listening: Kernel, gemini: FakeGemini, listener: Listener, fault: Fault
) -> None:
    gemini.answer(TEXT)
    gemini.fail(fault)
    error = (await listening.run("paid_listening", {})).error
    assert error is not None
    assert getattr(error, "category", "") == "REPLY_TRUNCATED"
    assert listener.heard[0]
    assert await listening.call("paid_listening") == Found(text=TEXT)
    assert len(gemini.requests_of(STREAMED)) == 2


async def test_a_stream_that_cannot_begin_is_tried_again(
    listening: Kernel, gemini: FakeGemini, listener: Listener
) -> None:
    gemini.answer(TEXT)
    gemini.fail(Fault.status(503))
    assert await listening.call("paid_listening") == Found(text=TEXT)
    assert [len(gemini.requests_of(STREAMED)), len(listener.heard)] == [2, 1]


async def test_outside_of_a_scope_each_stream_is_asked_anew(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.answer(TEXT)
    for _ in range(2):
        pieces = [piece async for piece in kernel.services.models.stream("Why?")]
        assert len(pieces) > 2
    assert len(gemini.requests_of(STREAMED)) == 2
