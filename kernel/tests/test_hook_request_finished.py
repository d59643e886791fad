"""`vr_request_finished`: plugins hear of each attempt to ask a model, and delay no answer."""

from __future__ import annotations

import asyncio
import time
from types import SimpleNamespace
from typing import Any

import pytest
from paid_plugin import vr_record_kinds, vr_tools
from paid_work import ASKED, asked, paying
from vr_kernel import Code, Kernel, RequestFinished, Services, hookimpl, load_config
from vr_testing import FakeGemini, Fault
from waiting import until

PAID = SimpleNamespace(vr_tools=vr_tools, vr_record_kinds=vr_record_kinds)
OPTIONS: dict[str, Any] = {"trace_context": {"traceparent": f"00-{'a' * 32}-{'b' * 16}-01"}}


class Heard:
    """A plugin that keeps the events."""

    def __init__(self) -> None:
        self.events: list[RequestFinished] = []

    @hookimpl
    async def vr_request_finished(self, event: RequestFinished, services: Services) -> None:
        assert services.plugin == "ear"
        self.events.append(event)


@pytest.fixture
def opened(environ: dict[str, str], gemini: FakeGemini) -> Any:
    def make(plugin: object) -> Any:
        given = paying(gemini, GEMINI_RETRY_BASE_DELAY="0.01", VR_KERNEL__LEASE_S="20")
        return Kernel.open(load_config({**environ, **given}), {"paid": PAID, "ear": plugin})

    return make


async def test_each_attempt_is_told_with_its_call(opened: Any, gemini: FakeGemini) -> None:
    heard, before = Heard(), time.time()
    gemini.fail(Fault.status(503), times=1)
    async with opened(heard) as kernel:
        done = await kernel.run("paid_ask", {"question": "Why?"}, principal="ann", **OPTIONS)
    first, second = heard.events
    assert (first.attempt, second.attempt) == (1, 2)
    assert (first.code, second.code) == (Code.UNAVAILABLE, None)
    assert first.category
    assert {it.call_id for it in heard.events} == {done.call_id}
    assert (second.tool, second.plugin, second.principal) == ("paid_ask", "paid", "ann")
    assert (second.workspace, second.provider, second.role) == ("ann", "gemini", "default")
    assert second.purpose == "generate"
    assert second.usage is not None
    assert second.usage.calls == 1
    assert second.trace.context == OPTIONS["trace_context"]
    assert second.trace.root == done.call_id
    assert before <= first.started_at <= second.started_at
    assert second.started_at + second.duration_s <= time.time() + 1


async def test_shared_work_names_the_call_that_pays(opened: Any, gemini: FakeGemini) -> None:
    heard = Heard()
    async with opened(heard) as kernel:
        calls = [kernel.run("paid_once", {"question": "Why?"}) for _ in range(3)]
        outcomes = await asyncio.gather(*calls)
    (event,) = heard.events
    assert event.call_id in {it.call_id for it in outcomes}
    assert asked(gemini) == {"Why?": 1}


async def test_a_stream_and_one_that_is_given_up(opened: Any, gemini: FakeGemini) -> None:
    heard = Heard()
    async with opened(heard) as kernel:
        await kernel.call("paid_stream", question="Why?")
        gemini.fail(Fault.hang(), times=None)
        task = asyncio.create_task(kernel.run("paid_ask", {"question": "Where?"}))
        await until(lambda: gemini.in_flight)
        task.cancel()
        with pytest.raises(asyncio.CancelledError):
            await task
    told = [(it.purpose, it.code, it.category) for it in heard.events]
    assert told == [("stream", None, ""), ("generate", Code.CANCELLED, "GIVEN_UP")]


async def test_a_listener_delays_no_answer(opened: Any, gemini: FakeGemini) -> None:
    ended: list[str] = []

    async def hang(event: RequestFinished, services: Services) -> None:
        try:
            await asyncio.Event().wait()
        finally:
            ended.append(event.model)

    async with opened(SimpleNamespace(vr_request_finished=hookimpl(hang))) as kernel:
        await kernel.call("paid_ask", question="Why?")
        assert ended == [], "nobody waited for it"
    assert asked(gemini) == {"Why?": 1}


@pytest.mark.parametrize("error", [RuntimeError, SystemExit, KeyboardInterrupt])
async def test_a_listener_that_fails_harms_no_answer(
    opened: Any, gemini: FakeGemini, error: type[BaseException]
) -> None:
    def fail(event: RequestFinished, services: Services) -> None:
        raise error

    async with opened(SimpleNamespace(vr_request_finished=hookimpl(fail))) as kernel:
        await kernel.call("paid_ask", question="Why?")
    assert asked(gemini) == {"Why?": 1}


async def test_a_job_that_is_resumed_keeps_its_trace(opened: Any, gemini: FakeGemini) -> None:
    heard, batch = Heard(), {"name": "job", "items": 2, "at_once": 1}
    gemini.fail(Fault.hang(), when=lambda _: len(gemini.requests_of(ASKED)) > 1, times=None)
    async with opened(heard) as kernel, kernel.turn("paid", "chat", "one", **OPTIONS) as turn:
        begun = kernel.start("paid_batch", batch)
        await until(lambda: gemini.in_flight and len(gemini.requests_of(ASKED)) > 1)
    gemini.heal()
    heard.events.clear()
    async with opened(heard) as kernel:
        await kernel.call("job_result", job_id=begun.id, wait_s=20)
    (event,) = heard.events
    assert (event.call_id, event.trace.parent, event.trace.root) == (begun.id, turn.id, turn.id)
    assert event.trace.context == OPTIONS["trace_context"]


async def test_nothing_is_kept_where_nobody_listens(opened: Any) -> None:
    async with opened(SimpleNamespace()) as kernel:
        await kernel.call("paid_ask", question="Why?")
        recorder = kernel._foundation.models.recorder
        assert not kernel._foundation.request_listeners
        assert not recorder._shared.sent
