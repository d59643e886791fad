"""Progress of one call: from any thread, always rising, never silent, never in the way."""

from __future__ import annotations

import asyncio
import selectors
import threading
from collections.abc import Awaitable, Callable, Coroutine, Iterable
from contextlib import suppress
from itertools import pairwise
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from vr_kernel.progress import HEARTBEAT_S, Progress

Sent = list[tuple[float, float | None, str]]


class SkippingSelector(selectors.DefaultSelector):
    """A loop whose clock skips to the next timer."""

    now = 0.0

    def select(self, timeout: float | None = None) -> Any:
        if timeout is None:
            return super().select(None)
        events = super().select(0)
        if not events:
            self.now += timeout
        return events


class SkippingLoop(asyncio.SelectorEventLoop):
    """A loop in which no timer takes time."""

    def __init__(self) -> None:
        self.clock = SkippingSelector()
        super().__init__(self.clock)

    def time(self) -> float:
        return self.clock.now


def _run(main: Coroutine[Any, Any, Sent]) -> Sent:
    with asyncio.Runner(loop_factory=SkippingLoop) as runner:
        return runner.run(main)


async def _relayed(report: Callable[[Progress], Awaitable[None]]) -> Sent:
    """Messages that a client is sent while `report` runs."""
    progress, sent = Progress(), Sent()

    async def send(done: float, total: float | None, message: str) -> None:
        sent.append((done, total, message))

    relay = asyncio.create_task(progress.relay(send))
    await report(progress)
    relay.cancel()
    with suppress(asyncio.CancelledError):
        await relay
    return sent


async def _settle() -> None:
    """Let everything run that can run."""
    for _ in range(5):
        await asyncio.sleep(0)


def _rises(numbers: Iterable[float]) -> bool:
    return all(one < other for one, other in pairwise(numbers))


def test_a_report_is_passed_on_at_once() -> None:
    async def report(progress: Progress) -> None:
        for number in range(3):
            progress.report(number, 3, f"step {number}")
            await _settle()

    assert _run(_relayed(report)) == [
        (0.0, 3.0, "step 0"),
        (1.0, 3.0, "step 1"),
        (2.0, 3.0, "step 2"),
    ]


@pytest.mark.parametrize("done", [0, 0.5, 3, 1e6, 2.0**40, 1e15])
def test_silence_is_broken_by_rising_heartbeats(done: float) -> None:
    async def report(progress: Progress) -> None:
        progress.report(done, None, "thinking")
        loop = asyncio.get_running_loop()
        began = loop.time()
        await asyncio.wait({loop.create_future()}, timeout=6.5 * HEARTBEAT_S)
        assert loop.time() - began >= 6.5 * HEARTBEAT_S

    sent = _run(_relayed(report))
    assert len(sent) == 7
    assert _rises(number for number, _, _ in sent)
    assert {(total, message) for _, total, message in sent} == {(None, "thinking")}
    assert sent[-1][0] == pytest.approx(done, rel=1e-9, abs=1e-3)


def test_a_call_that_reports_nothing_shows_life_too() -> None:
    async def report(progress: Progress) -> None:
        future = asyncio.get_running_loop().create_future()
        await asyncio.wait({future}, timeout=3.5 * HEARTBEAT_S)

    sent = _run(_relayed(report))
    assert len(sent) == 3
    assert _rises(number for number, _, _ in sent)


@settings(deadline=None, max_examples=30)
@given(numbers=st.lists(st.floats(0, 1e12) | st.integers(0, 5), min_size=1, max_size=12))
def test_numbers_rise_whatever_is_reported(numbers: list[float]) -> None:
    """The protocol demands it, even where a second phase counts from the start again."""

    async def report(progress: Progress) -> None:
        future = asyncio.get_running_loop().create_future()
        for number in numbers:
            progress.report(number)
            await asyncio.wait({future}, timeout=1.5 * HEARTBEAT_S)

    sent = [number for number, _, _ in _run(_relayed(report))]
    assert len(sent) == 2 * len(numbers)
    assert _rises(sent)
    assert max(sent) == pytest.approx(max(numbers), rel=1e-9, abs=1e-3)


def test_a_client_that_is_slow_skips_reports() -> None:
    async def main() -> Sent:
        progress, sent, ready = Progress(), Sent(), asyncio.Event()

        async def send(done: float, total: float | None, message: str) -> None:
            sent.append((done, total, message))
            await ready.wait()

        relay = asyncio.create_task(progress.relay(send))
        for number in range(1000):
            progress.report(number, 1000)
            await asyncio.sleep(0)
        ready.set()
        await _settle()
        relay.cancel()
        with suppress(asyncio.CancelledError):
            await relay
        return sent

    sent = _run(main())
    assert len(sent) == 2
    assert sent[-1] == (999.0, 1000.0, "")


async def test_threads_may_report_at_once() -> None:
    def work(progress: Progress, start: int) -> None:
        for number in range(500):
            progress.report(start + number, 4000, f"from {start}")

    async def report(progress: Progress) -> None:
        async with asyncio.TaskGroup() as group:
            for start in range(0, 4000, 500):
                group.create_task(asyncio.to_thread(work, progress, start))
        await asyncio.to_thread(progress.report, 4000, 4000, "the end")
        await _settle()

    sent = await _relayed(report)
    assert _rises(number for number, _, _ in sent)
    assert sent[-1] == (4000.0, 4000.0, "the end")
    assert {message for _, _, message in sent} <= {
        "the end",
        *(f"from {start}" for start in range(0, 4000, 500)),
    }


async def test_a_report_never_waits() -> None:
    """Nobody takes the reports, and still thousands are made."""
    progress = Progress()
    thread = threading.Thread(target=lambda: [progress.report(n) for n in range(10_000)])
    thread.start()
    thread.join(timeout=20)
    assert not thread.is_alive()


def test_a_report_after_the_end_is_harmless() -> None:
    async def begin() -> Progress:
        return Progress()

    progress = asyncio.run(begin())
    progress.report(1, 2, "too late")
