"""Paid work that cannot be written now is held until it can; nothing else is paid for."""

from __future__ import annotations

import asyncio
import subprocess
import sys
from collections.abc import AsyncIterator, Iterator
from contextlib import ExitStack, asynccontextmanager, contextmanager
from pathlib import Path
from typing import Any

import pytest
from paid_work import asked, paid_kernel, recorded, rows
from vr_kernel import Code, Kernel
from vr_kernel.running.runner import Outcome
from vr_testing import FakeGemini
from vr_testing.full_disk import no_room
from waiting import until

LESS_THAN_IS_RESERVED = 1 << 20
PAID_CALLS: list[tuple[str, dict[str, Any]]] = [
    ("paid_ask", {"question": "Why?"}),
    ("paid_once", {"question": "Why?"}),
    ("paid_batch", {"name": "many", "items": 3}),
    ("paid_stream", {"question": "Why?"}),
    ("paid_research", {"question": "Why?"}),
]
HOLD = """
import sqlite3, sys
sqlite3.connect(sys.argv[1], isolation_level=None).execute("BEGIN EXCLUSIVE")
print(flush=True)
input()
"""
HELD = "what was paid for is held in memory"


@contextmanager
def locked(path: Path) -> Iterator[int]:
    """The process that holds a file meanwhile."""
    hold = [sys.executable, "-S", "-c", HOLD, str(path)]
    pipes: Any = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE}
    with subprocess.Popen(hold, **pipes) as holder:
        assert holder.stdout is not None
        holder.stdout.readline()
        try:
            yield holder.pid
        finally:
            holder.kill()


@pytest.mark.parametrize(("tool", "arguments"), PAID_CALLS)
async def test_without_room_nothing_is_paid_and_with_room_it_goes_on(
    tool: str,
    arguments: dict[str, Any],
    environ: dict[str, str],
    open_kernel: Any,
    gemini: FakeGemini,
) -> None:
    kernel = await open_kernel()
    with no_room(LESS_THAN_IS_RESERVED):  # every small row can still be written
        error = (await kernel.run(tool, arguments)).error
    assert error is not None
    assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
    assert error.retryable
    assert environ["VR_STATE_DIR"] in error.message
    assert "vr clean" in error.hint
    assert gemini.requests == []
    assert (await kernel.run("infra_usage", {})).data["total"]["attempts"] == 0
    assert (await kernel.run(tool, arguments)).error is None


async def test_no_room_is_no_failure_of_the_model(open_kernel: Any, gemini: FakeGemini) -> None:
    kernel = await open_kernel()
    with no_room(LESS_THAN_IS_RESERVED):
        for number in range(6):
            assert (await kernel.run("paid_ask", {"question": f"{number}?"})).error is not None
    assert (await kernel.run("paid_ask", {"question": "Now?"})).error is None
    assert gemini.bill.calls == 1


@asynccontextmanager
async def answered_without_room(
    kernel: Kernel, gemini: FakeGemini, tool: str, in_flight: int = 1, **arguments: Any
) -> AsyncIterator[Outcome]:
    """Outcome of a call whose requests went out with room, and whose answers came without any."""
    with ExitStack() as full:
        with gemini.hold():
            calling = asyncio.create_task(kernel.run(tool, arguments))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == in_flight)
            full.enter_context(no_room())
        yield await calling


async def check_all_kept(kernel: Kernel, environ: dict[str, str], gemini: FakeGemini) -> None:
    """Every answer was paid once, is on the bill and on record."""
    assert max(asked(gemini).values()) == 1
    state = environ["VR_STATE_DIR"]
    paid = "SELECT count(*) FROM attempt WHERE state = 'paid'"
    await until(lambda: rows(state, "usage.db", paid) == [(gemini.bill.calls,)])
    await until(lambda: len(recorded(state)) == len(asked(gemini)))
    running = "SELECT count(*) FROM job WHERE state = 'running'"
    await until(lambda: rows(state, "jobs.db", running) in ([(0,)], []))
    total = (await kernel.run("infra_usage", {})).data["total"]
    assert total["calls"] == total["attempts"] == gemini.bill.calls
    assert total["output_tokens"] == gemini.bill.output_tokens


@pytest.mark.parametrize(
    "file",
    [
        "usage.db",
        *(
            pytest.param(name, marks=pytest.mark.slow)
            for name in ("jobs.db", "journal.db", "results.db")
        ),
    ],
)
async def test_what_another_process_keeps_from_being_written_is_no_full_disk(
    file: str,
    environ: dict[str, str],
    open_kernel: Any,
    gemini: FakeGemini,
    capfd: pytest.CaptureFixture[str],
) -> None:
    kernel = await open_kernel()
    folder = environ["VR_CACHE_DIR" if file == "results.db" else "VR_STATE_DIR"]
    assert (await kernel.run("paid_once", {"question": "Before?"})).error is None
    kernel._foundation.patience.wait_s = 0.3
    with ExitStack() as lock:
        with gemini.hold():
            calling = asyncio.create_task(kernel.run("paid_once", {"question": "Why?"}))
            await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
            holder = lock.enter_context(locked(Path(folder, file)))
        outcome = await calling
        assert outcome.error is None
        (note,) = [note for note in outcome.notes if "held in memory" in note]
        (line,) = [line for line in capfd.readouterr().err.splitlines() if HELD in line]
        for told in (note, line):
            assert f"Another process holds {file}." in told
            assert f"Process {holder} is writing to it" in told
            assert "room" not in told
            assert "vr clean" not in told
        error = (await kernel.run("paid_once", {"question": "Another?"})).error
        assert error is not None
        assert error.message == f"Another process holds {file}."
        assert error.retryable
    await check_all_kept(kernel, environ, gemini)


async def test_what_is_held_is_found_and_nothing_else_is_paid(
    environ: dict[str, str], open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel()
    assert (await kernel.run("paid_once", {"question": "Before?"})).error is None
    async with answered_without_room(kernel, gemini, "paid_once", question="Why?") as outcome:
        assert outcome.error is None
        (note,) = [note for note in outcome.notes if "held in memory" in note]
        assert environ["VR_STATE_DIR"] in note
        assert not any("crash" in note or "Not recorded" in note for note in outcome.notes)
        again = await kernel.run("paid_once", {"question": "Why?"})
        assert again.data["cached"]
        assert again.data["text"] == outcome.data["text"]
        error = (await kernel.run("paid_once", {"question": "Another?"})).error
        assert error is not None
        assert (error.category, error.retryable) == ("STATE_UNAVAILABLE", True)
        assert (await kernel.run("infra_usage", {})).data["total"]["calls"] == 2
        assert (await kernel.run("job_list", {})).error is None
    assert (await kernel.run("paid_once", {"question": "Another?"})).error is None
    await check_all_kept(kernel, environ, gemini)


async def test_what_is_held_is_written_by_itself_when_there_is_room(
    environ: dict[str, str], open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel()  # the first that a state folder holds
    async with answered_without_room(kernel, gemini, "paid_ask", question="Why?") as outcome:
        assert outcome.error is None
        assert any("held in memory" in note for note in outcome.notes), outcome.notes
        assert not recorded(environ["VR_STATE_DIR"])
    await check_all_kept(kernel, environ, gemini)


async def test_a_batch_without_room_keeps_each_answer(
    environ: dict[str, str], open_kernel: Any, gemini: FakeGemini
) -> None:
    kernel = await open_kernel(VR_MODELS__CONCURRENCY="20")
    assert (await kernel.run("paid_once", {"question": "Before?"})).error is None
    many = {"name": "many", "items": 20, "at_once": 20}
    gemini.answer("A long answer. " * 50)
    async with answered_without_room(kernel, gemini, "paid_batch", 20, **many) as outcome:
        assert outcome.error is None
        assert len(outcome.data["texts"]) == 20
        assert any("held in memory" in note for note in outcome.notes)
    assert gemini.bill.calls == 21
    await check_all_kept(kernel, environ, gemini)


async def test_what_is_held_to_the_end_is_written_at_the_end(
    environ: dict[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini) as kernel:
        assert (await kernel.run("paid_once", {"question": "Before?"})).error is None
        async with answered_without_room(kernel, gemini, "paid_once", question="Why?"):
            pass
    async with paid_kernel(environ, gemini) as kernel:
        assert (await kernel.run("paid_once", {"question": "Why?"})).data["cached"]
        await check_all_kept(kernel, environ, gemini)


async def test_what_is_lost_at_the_end_is_told(
    environ: dict[str, str], gemini: FakeGemini, capfd: pytest.CaptureFixture[str]
) -> None:
    with ExitStack() as full:
        async with paid_kernel(environ, gemini) as kernel:
            assert (await kernel.run("paid_once", {"question": "Before?"})).error is None
            with gemini.hold():
                calling = asyncio.create_task(kernel.run("paid_once", {"question": "Why?"}))
                await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == 1)
                full.enter_context(no_room())
            assert (await calling).error is None
    lost = [line for line in capfd.readouterr().err.splitlines() if "is lost" in line]
    for name in ("journal.db", "usage.db", "results.db"):
        assert any(name in line for line in lost), lost


@pytest.mark.parametrize(
    ("tool", "paid", "told"), [("paid_once", 1, "nothing"), ("paid_ask", 2, "pays")]
)
async def test_a_long_result_that_no_file_takes_says_what_the_same_call_costs(
    tool: str, paid: int, told: str, kernel: Kernel, gemini: FakeGemini
) -> None:
    gemini.answer("A long answer. " * 10_000)
    kernel.services.artifacts.folder.parent.mkdir(exist_ok=True)
    kernel.services.artifacts.folder.touch()  # a file in its place
    error = (await kernel.run(tool, {"question": "Why?"})).error
    assert error is not None
    assert (error.code, error.retryable) == (Code.UNAVAILABLE, True)
    assert "more than the 10,000 tokens" in error.message
    assert told in error.hint
    kernel.services.artifacts.folder.unlink()
    error = (await kernel.run(tool, {"question": "Why?"})).error
    assert error is not None
    assert error.code is Code.TOO_LARGE
    assert gemini.bill.calls == paid
