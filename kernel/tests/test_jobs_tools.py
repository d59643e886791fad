"""The job tools, and jobs of others, in one process and in two."""

from __future__ import annotations

import asyncio
import re
from collections.abc import AsyncIterator, Mapping
from typing import Any

import pytest
from paid_work import Found, asked, paid_kernel, recorded, rows
from vr_kernel import READ_ONLY, Call, Code, Kernel, VrError, tool
from vr_kernel.running.runner import Outcome
from vr_kernel.running.running_job import RunningJob
from vr_testing import FakeGemini
from waiting import until

ANOTHER = "somebody-else"
NO_JOB = "0" * 32
TOOLS = ("job_status", "job_result", "job_cancel")


@pytest.fixture
async def kernel(environ: Mapping[str, str], gemini: FakeGemini) -> AsyncIterator[Kernel]:
    """A kernel that pays it."""
    async with paid_kernel(environ, gemini) as kernel:
        yield kernel


@pytest.fixture
async def other(environ: Mapping[str, str], gemini: FakeGemini) -> AsyncIterator[Kernel]:
    """Another kernel on the same folders."""
    async with paid_kernel(environ, gemini) as kernel:
        yield kernel


async def hand_out(kernel: Kernel, gemini: FakeGemini, items: int = 3, **more: Any) -> RunningJob:
    """A job whose model calls are under way, and held."""
    before = gemini.in_flight
    begun = kernel.start("paid_batch", {"name": "job", "items": items, "at_once": items, **more})
    await asyncio.to_thread(gemini.wait, lambda: gemini.in_flight == before + items)
    await kernel.detach(begun)
    return begun


async def failure(kernel: Kernel, tool: str, **arguments: Any) -> VrError:
    """The error of a call."""
    error = (await kernel.run(tool, arguments)).error
    assert error is not None
    return error


def words(error: VrError, job_id: str) -> str:
    """All that an error says, but for the id that was asked for."""
    return str(error.as_dict("")).replace(job_id, "ID")


async def test_jobs_of_others_and_old_ones_are_as_unknown_as_none(
    kernel: Kernel, environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    async with paid_kernel(environ, gemini, principal=ANOTHER) as stranger:
        with gemini.hold():
            job = await hand_out(kernel, gemini)
            for tool in TOOLS:
                unknown = await failure(stranger, tool, job_id=NO_JOB)
                assert (unknown.code, unknown.category) == (Code.NOT_FOUND, "JOB_UNKNOWN")
                assert "job_list" in unknown.hint
                hidden = await failure(stranger, tool, job_id=job.id)
                assert words(hidden, job.id) == words(unknown, NO_JOB)
            assert (await stranger.call("job_list")).jobs == []
            assert (await kernel.call("job_status", job_id=job.id)).state == "running"
        assert (await kernel.call("job_result", job_id=job.id)).state == "done"
        assert gemini.cancelled == 0
    await kernel.services.jobs.prune(0)
    for tool in TOOLS:
        removed = await failure(kernel, tool, job_id=job.id)
        assert words(removed, job.id) == words(unknown, NO_JOB)


async def test_the_list_is_newest_first_by_state_and_limited(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    await kernel.call("paid_batch", name="first", items=1)
    await kernel.call("paid_batch", name="second", items=1)
    with gemini.hold():
        third = await hand_out(kernel, gemini)
        await kernel.call("job_cancel", job_id=third.id)
    fourth = await hand_out_done(kernel)
    listed = (await kernel.call("job_list")).jobs
    assert [job.state for job in listed] == ["done", "cancelled", "done", "done"]
    assert [job.job_id for job in listed][:2] == [fourth, third.id]
    assert [job.job_id for job in (await kernel.call("job_list", limit=1)).jobs] == [fourth]
    assert len((await kernel.call("job_list", state="done")).jobs) == 3
    assert (await kernel.call("job_list", state="interrupted")).jobs == []


async def hand_out_done(kernel: Kernel) -> str:
    """The id of a job that has ended."""
    begun = kernel.start("paid_batch", {"name": "last", "items": 1})
    await begun.outcome()
    return begun.id


@pytest.mark.slow
async def test_progress_reaches_another_process(
    kernel: Kernel, other: Kernel, gemini: FakeGemini
) -> None:
    gemini.latency = 0.1
    begun = kernel.start("paid_batch", {"name": "seen", "items": 25, "at_once": 1})
    await asyncio.to_thread(gemini.wait, lambda: len(gemini.requests) > 1)

    async def seen() -> bool:
        info = await other.call("job_status", job_id=begun.id)
        return bool(0 < info.progress.done < 25 and info.progress.total == 25)

    await until(seen)
    gemini.latency = 0.0
    assert (await begun.outcome()).error is None
    ended = await other.call("job_result", job_id=begun.id)
    assert (ended.progress.done, ended.progress.message) == (25, "25 of 25")


@pytest.mark.slow
async def test_who_waits_for_a_job_is_told_how_far_it_is(
    kernel: Kernel, other: Kernel, gemini: FakeGemini
) -> None:
    gemini.latency = 0.1
    begun = kernel.start("paid_batch", {"name": "told", "items": 25, "at_once": 1})
    await asyncio.to_thread(gemini.wait, lambda: len(gemini.requests) > 3)
    for waiting in (kernel, other):
        told: list[tuple[float, float | None, str]] = []

        def report(
            done: float,
            total: float | None,
            message: str,
            told: list[tuple[float, float | None, str]] = told,
        ) -> None:
            told.append((done, total, message))

        with gemini.hold():
            asking = asyncio.create_task(waiting.run("job_result", {"job_id": begun.id}, report))
            await until(lambda told=told: told and told[-1][0] > 0)
            done, total, message = told[-1]
            assert total == 25
            assert re.fullmatch(rf"{done:g} of 25, about \d+ s left", message)
            handle = await waiting.call("job_status", job_id=begun.id)
            assert handle.progress.left_s > 0
            asking.cancel()
            await asyncio.wait({asking})
    gemini.latency = 0.0
    assert (await begun.outcome()).error is None


async def test_another_process_cancels(
    kernel: Kernel, other: Kernel, gemini: FakeGemini, environ: Mapping[str, str]
) -> None:
    with gemini.hold():
        job = await hand_out(kernel, gemini)
        waiting = asyncio.create_task(job.outcome())
        await other.call("job_cancel", job_id=job.id)
        await asyncio.to_thread(gemini.wait, lambda: gemini.cancelled == 3)
        assert (await other.call("job_result", job_id=job.id, wait_s=5)).state == "cancelled"
        error = (await waiting).error
        assert error is not None
        assert error.code is Code.CANCELLED
    assert recorded(environ["VR_STATE_DIR"]) == []
    assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT * FROM lease") == []


async def test_waiting_from_another_process(
    kernel: Kernel, other: Kernel, gemini: FakeGemini
) -> None:
    with gemini.hold():
        job = await hand_out(kernel, gemini)
        now = await other.call("job_result", job_id=job.id, wait_s=0)
        assert (now.state, now.result, now.error) == ("running", None, None)
        waiting = asyncio.create_task(other.call("job_result", job_id=job.id, wait_s=20))
    ended = await waiting
    assert (ended.state, len(ended.result["texts"]), ended.usage["calls"]) == ("done", 3, 3)


async def test_whoever_stops_waiting_does_not_end_the_job(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    with gemini.hold():
        job = await hand_out(kernel, gemini)
        waiting = asyncio.create_task(kernel.run("job_result", {"job_id": job.id}))
        await asyncio.sleep(0)
        waiting.cancel()
        await asyncio.wait({waiting})
    assert (await kernel.call("job_result", job_id=job.id)).state == "done"
    assert gemini.cancelled == 0


async def test_a_job_that_ended_stays_ended(kernel: Kernel, gemini: FakeGemini) -> None:
    job_id = await hand_out_done(kernel)
    asked_before = asked(gemini)
    cancelled = await kernel.run("job_cancel", {"job_id": job_id})
    assert cancelled.data["state"] == "done"
    assert cancelled.notes == ("The job had ended before (done); nothing was cancelled.",)
    ended = await kernel.call("job_result", job_id=job_id)
    assert ended.result["texts"] == ["A fake answer to: last item 0"]
    assert asked(gemini) == asked_before


@pytest.mark.parametrize("done", [10**30, -(10**30), float("nan"), float("inf"), 0.5])
async def test_progress_that_no_database_takes(
    done: float, environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    release = asyncio.Event()

    @tool(effects=READ_ONLY, long=True)
    async def odd_progress(call: Call) -> Found:
        """Report what is hard to keep."""
        call.progress(done, done, "caf\udce9")
        await release.wait()
        return Found(text="fine")

    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_progress])) as kernel:
        begun = kernel.start("odd_progress", {})
        await asyncio.sleep(0)
        job = await kernel.detach(begun)
        assert job.state == "running"
        assert (await kernel.call("job_status", job_id=job.id)).progress.message == "caf?"
        release.set()
        assert (await kernel.call("job_result", job_id=job.id)).result["text"] == "fine"


async def test_what_start_did_not_return_cannot_be_detached(kernel: Kernel) -> None:
    begun = kernel.start("paid_batch", {"name": "job", "items": 0, "at_once": 1})
    with pytest.raises(TypeError, match="a call that Kernel"):
        await kernel.detach(await begun.outcome())  # type: ignore[arg-type]


async def test_a_call_that_ends_while_it_is_handed_out(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    """Whichever comes first, no job is left running."""

    @tool(effects=READ_ONLY, long=True)
    async def odd_brief(call: Call, turns: int) -> Found:
        """Take some turns of the loop, and pay nothing."""
        for _ in range(turns):
            await asyncio.sleep(0.0005)
        return Found(text="brief")

    async with paid_kernel(environ, gemini, plugin=make_plugin([odd_brief])) as kernel:
        for turns in range(40):
            begun = kernel.start("odd_brief", {"turns": turns % 10})
            handed_out, ended = await asyncio.gather(
                kernel.detach(begun), begun.outcome(), return_exceptions=True
            )
            assert isinstance(ended, Outcome)
            assert ended.data["text"] == "brief"
            if isinstance(handed_out, VrError):
                assert handed_out.category == "JOB_UNKNOWN"
            else:
                assert not isinstance(handed_out, BaseException)
                result = await kernel.call("job_result", job_id=handed_out.id)
                assert result.result["text"] == "brief"
        states = [job.state for job in (await kernel.call("job_list", limit=100)).jobs]
        assert set(states) <= {"done"}
        assert rows(environ["VR_STATE_DIR"], "jobs.db", "SELECT * FROM lease") == []


async def test_a_job_that_a_plugin_begins_is_found_at_once(
    kernel: Kernel, gemini: FakeGemini
) -> None:
    jobs, me = kernel.services.jobs, kernel.identity.principal
    job_id = await jobs.begin("paid_batch", {"name": "job", "items": 1, "at_once": 1}, me)
    assert (await kernel.call("job_status", job_id=job_id)).tool == "paid_batch"
    assert (await jobs.wait(job_id, me, 30)).state == "done"
    for name in ("nobodys_tool", "infra_usage"):
        with pytest.raises(VrError) as refused:
            await jobs.begin(name, {}, me)
        assert refused.value.code is Code.NOT_FOUND
    assert len(await jobs.list(me, (), 9)) == 1
