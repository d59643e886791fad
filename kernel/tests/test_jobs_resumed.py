"""Jobs that were interrupted: who goes on with them, with what, and when nobody does."""

from __future__ import annotations

import asyncio
import json
import os
import random
import sqlite3
import time
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager, closing, contextmanager
from pathlib import Path
from typing import Any

import pytest
from paid_work import ASKED, PAID_STEP, Found, asked, paid_kernel, recorded, rows
from vr_kernel import READ_ONLY, Call, Code, Kernel, VrError, tool
from vr_kernel.running.job_runner import MOST_RUNS
from vr_testing import FakeGemini, Fault
from waiting import until

ITEMS = 12


@asynccontextmanager
async def serving(
    environ: Mapping[str, str], gemini: FakeGemini, **more: Any
) -> AsyncIterator[Kernel]:
    """A kernel that takes up what others left."""
    async with paid_kernel(environ, gemini, **more) as kernel, kernel.serving():
        yield kernel


async def interrupted(environ: Mapping[str, str], gemini: FakeGemini, paid: int) -> str:
    """The id of a job of `ITEMS` of which so many were paid before its kernel closed."""
    gemini.fail(Fault.hang(), when=lambda _: len(gemini.requests_of(ASKED)) > paid, times=None)
    async with paid_kernel(environ, gemini) as kernel:
        begun = kernel.start("paid_batch", {"name": "job", "items": ITEMS, "at_once": 1})
        await until(lambda: gemini.in_flight and steps_of(environ) == paid)
    gemini.heal()
    return begun.id


async def state_of(kernel: Kernel, job_id: str) -> str:
    """The state of a job."""
    return str((await kernel.call("job_status", job_id=job_id)).state)


def steps_of(environ: Mapping[str, str]) -> int:
    """Count the replies that are committed."""
    return len(rows(environ["VR_STATE_DIR"], "jobs.db", f"SELECT 1 FROM step WHERE {PAID_STEP}"))


async def test_a_resumed_job_pays_only_what_is_missing(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    job_id = await interrupted(environ, gemini, 3)
    assert steps_of(environ) == 3
    before = len(gemini.requests_of(ASKED))
    async with serving(environ, gemini) as kernel:
        ended = await kernel.call("job_result", job_id=job_id)
        assert (ended.state, ended.usage["calls"]) == ("done", ITEMS)
        assert ended.result["texts"] == [f"A fake answer to: job item {n}" for n in range(ITEMS)]
        assert (await kernel.call("job_status", job_id=job_id)).runs == 2
    assert len(gemini.requests_of(ASKED)) - before == ITEMS - 3
    keys = [key for key, _ in recorded(environ["VR_STATE_DIR"])]
    assert len(keys) == len(set(keys)) == ITEMS


async def test_job_result_alone_resumes(environ: Mapping[str, str], gemini: FakeGemini) -> None:
    job_id = await interrupted(environ, gemini, 1)
    async with paid_kernel(environ, gemini) as kernel:
        assert await state_of(kernel, job_id) == "interrupted"
        assert (await kernel.call("job_result", job_id=job_id)).state == "done"


async def test_nothing_is_resumed_when_that_is_turned_off(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    job_id = await interrupted(environ, gemini, 1)
    before = len(gemini.requests_of(ASKED))
    async with serving(environ, gemini, VR_KERNEL__RESUME_JOBS="false") as kernel:
        await asyncio.sleep(0.1)
        assert await state_of(kernel, job_id) == "interrupted"
    assert len(gemini.requests_of(ASKED)) == before


async def test_records_of_a_job_that_died_after_them_are_the_same(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """Killed between the journal and the end of the job: recorded again, under the same keys."""
    async with paid_kernel(environ, gemini) as kernel:
        begun = kernel.start("paid_batch", {"name": "job", "items": 3})
        assert (await begun.outcome()).error is None
    first = recorded(environ["VR_STATE_DIR"])
    path = Path(environ["VR_STATE_DIR"], "jobs.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("UPDATE job SET state = 'running', result = NULL")
    async with serving(environ, gemini) as kernel:
        ended = await kernel.call("job_result", job_id=begun.id)
        assert ended.state == "done"
    assert sorted(recorded(environ["VR_STATE_DIR"])) == sorted(first)
    assert max(asked(gemini).values()) == 1


async def test_a_job_of_a_missing_tool_waits_for_it(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    job_id = await interrupted(environ, gemini, 1)
    async with serving(environ, gemini, plugin=make_plugin()) as kernel:
        waited = await kernel.call("job_result", job_id=job_id, wait_s=0.1)
        assert (waited.state, waited.tool) == ("interrupted", "paid_batch")
        assert (await kernel.call("job_status", job_id=job_id)).runs == 1
    async with serving(environ, gemini) as kernel:
        assert (await kernel.call("job_result", job_id=job_id)).state == "done"


async def test_a_job_stays_in_its_workspace(environ: Mapping[str, str], gemini: FakeGemini) -> None:
    job_id = await interrupted(environ, gemini, 1)
    async with serving(environ, gemini, VR_STORE__WORKSPACE="elsewhere") as kernel:
        assert kernel.config.store.workspace == "elsewhere"
        assert (await kernel.call("job_result", job_id=job_id, wait_s=0.1)).state == "interrupted"
    async with serving(environ, gemini) as kernel:
        assert (await kernel.call("job_result", job_id=job_id)).state == "done"
    workspaces = rows(
        environ["VR_STATE_DIR"], "journal.db", "SELECT DISTINCT workspace FROM record"
    )
    assert workspaces == [("default",)]


async def test_a_job_that_is_interrupted_again_and_again_fails(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    begun = asyncio.Event()

    @tool(effects=READ_ONLY, long=True)
    async def odd_poison(call: Call) -> Found:
        """Get nowhere."""
        begun.set()
        await call.step("one", asyncio.Event().wait)
        raise AssertionError

    plugin = make_plugin([odd_poison])
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        running = kernel.start("odd_poison", {})
        job = await kernel.detach(running)
    for _ in range(MOST_RUNS - 1):
        begun.clear()
        async with serving(environ, gemini, plugin=plugin):
            await asyncio.wait_for(begun.wait(), 10)
    begun.clear()
    async with serving(environ, gemini, plugin=plugin) as kernel:
        ended = await kernel.call("job_result", job_id=job.id)
        assert ended.state == "failed"
        assert ended.error["category"] == "JOB_INTERRUPTED"
        assert f"{MOST_RUNS} times" in ended.error["message"]
        assert ended.error["hint"]
        assert not begun.is_set()


async def test_a_job_that_gets_further_never_fails_of_interruptions(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    job_id = await interrupted(environ, gemini, 1)
    for _ in range(MOST_RUNS + 1):
        gemini.latency = 0.05
        before = steps_of(environ)
        async with serving(environ, gemini):
            await until(lambda: steps_of(environ) > before)  # noqa: B023 - awaited here
    gemini.latency = 0.0
    async with serving(environ, gemini) as kernel:
        ended = await kernel.call("job_result", job_id=job_id)
        assert (ended.state, ended.error) == ("done", None)
    assert sum(asked(gemini).values()) <= 2 * ITEMS


def of_version(version: str) -> Any:
    """A plugin whose tool makes steps of a version."""

    @tool(effects=READ_ONLY, long=True, steps_version=version)
    async def odd_steps(call: Call) -> Found:
        """Make a step, and wait."""

        async def work() -> str:
            return f"made by {version}"

        text = await call.step("one", work)
        if version == "1":
            await asyncio.Event().wait()
        return Found(text=text)

    return odd_steps


async def test_steps_of_another_version_are_not_used(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    async with paid_kernel(environ, gemini, plugin=make_plugin([of_version("1")])) as kernel:
        running = kernel.start("odd_steps", {})
        await until(lambda: steps_of(environ) == 1)
    async with serving(environ, gemini, plugin=make_plugin([of_version("2")])) as kernel:
        ended = await kernel.call("job_result", job_id=running.id)
        assert ended.result["text"] == "made by 2"


def stand_still() -> None:
    """Stop the event loop for longer than a lease."""
    time.sleep(0.5)


async def test_a_process_that_stood_still_goes_on(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """A computer that slept: the lease is over, nobody took it, nothing has failed for good."""
    async with serving(environ, gemini, VR_KERNEL__LEASE_S="0.3") as kernel:
        gemini.latency = 0.05
        running = kernel.start("paid_batch", {"name": "sleep", "items": ITEMS, "at_once": 1})
        await until(lambda: steps_of(environ) >= 2)
        await kernel.detach(running)
        stand_still()
        gemini.latency = 0.0
        ended = await kernel.call("job_result", job_id=running.id)
        assert (ended.state, len(ended.result["texts"])) == ("done", ITEMS)
    assert sum(asked(gemini).values()) <= ITEMS + 1


async def test_what_fails_because_it_stood_still_has_not_failed(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    """As after a computer slept: the connection is broken, and the lease is over."""
    runs: list[int] = []

    @tool(effects=READ_ONLY, long=True)
    async def odd_sleeper(call: Call) -> Found:
        """Sleep, and fail, once."""
        runs.append(1)
        await call.step("one", began)
        if len(runs) == 1:
            await slept.wait()
            stand_still()
            raise VrError("The connection is broken.", Code.UNAVAILABLE, retryable=True)
        return Found(text="fine")

    async def began() -> str:
        return "begun"

    slept, more = asyncio.Event(), {"VR_KERNEL__LEASE_S": "0.3"}
    async with serving(environ, gemini, plugin=make_plugin([odd_sleeper]), **more) as kernel:
        running = kernel.start("odd_sleeper", {})
        await until(lambda: steps_of(environ) == 1)
        await kernel.detach(running)
        slept.set()
        ended = await kernel.call("job_result", job_id=running.id)
        assert (ended.state, ended.result) == ("done", {"text": "fine", "cached": False})


async def test_equal_steps_are_told_apart(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    made: list[int] = []

    async def work() -> int:
        made.append(len(made))
        return made[-1]

    @tool(effects=READ_ONLY, long=True)
    async def odd_equals(call: Call) -> Found:
        """Make three equal steps."""
        found = [await call.step("same", work) for _ in range(3)]
        if len(made) == 3 and not going_on.is_set():
            await asyncio.Event().wait()
        return Found(text=str(found))

    going_on, plugin = asyncio.Event(), make_plugin([odd_equals])
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        running = kernel.start("odd_equals", {})
        await until(lambda: steps_of(environ) == 3)
    going_on.set()
    async with serving(environ, gemini, plugin=plugin) as kernel:
        ended = await kernel.call("job_result", job_id=running.id)
        assert ended.result["text"] == "[0, 1, 2]"
    assert made == [0, 1, 2]


# A ledger that cannot be used.


def make_state(environ: Mapping[str, str], variable: str = "VR_STATE_DIR") -> Path:
    """The state folder, or the one that a variable names, empty."""
    state = Path(environ[variable])
    state.mkdir()
    return state


async def check_unharmed(kernel: Kernel, environ: Mapping[str, str], what: str) -> list[str]:
    """Paid work is done and recorded, with a remark; returns the remarks."""
    batch = await kernel.run("paid_batch", {"name": what, "items": 3})
    assert batch.error is None
    assert len(batch.data["texts"]) == 3
    once = await kernel.run("paid_once", {"question": what})
    assert once.error is None
    for outcome in (batch, once):
        assert any("A crash would lose paid work" in note for note in outcome.notes)
    return [*batch.notes, *once.notes]


@pytest.mark.parametrize("content", [b"no database at all" * 500, b"", b"\0" * 4096])
async def test_a_damaged_ledger_fails_no_call(
    content: bytes, environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    state = make_state(environ)
    (state / "jobs.db").write_bytes(content)
    async with serving(environ, gemini) as kernel:
        if content == b"" or not content.strip(b"\0"):
            assert (await kernel.run("paid_batch", {"name": "fine", "items": 2})).error is None
        else:
            notes = await check_unharmed(kernel, environ, "damaged")
            assert any("jobs.db" in note for note in notes)
            for name, arguments in [("job_list", {}), ("job_status", {"job_id": "0" * 32})]:
                error = (await kernel.run(name, arguments)).error
                assert isinstance(error, VrError)
                assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_DAMAGED")
                assert "move" in error.hint
            assert len(recorded(state)) == 4
            assert (state / "jobs.db").read_bytes() == content


async def test_a_foreign_ledger_fails_no_call_and_stays_as_it_is(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    state = make_state(environ)
    with closing(sqlite3.connect(state / "jobs.db", isolation_level=None)) as connection:
        for name in ("job", "step", "lease"):
            connection.execute(f"CREATE TABLE {name} (other TEXT)")
            connection.execute(f"INSERT INTO {name} VALUES ('precious')")
    async with serving(environ, gemini) as kernel:
        await check_unharmed(kernel, environ, "foreign")
    for name in ("job", "step", "lease"):
        assert rows(state, "jobs.db", f"SELECT * FROM {name}") == [("precious",)]


@pytest.mark.skipif(os.geteuid() == 0, reason="root writes everywhere")
async def test_with_a_read_only_state_folder_nothing_is_paid(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    make_state(environ).chmod(0o500)
    async with serving(environ, gemini) as kernel:
        await check_unpaid(kernel, environ, gemini)


async def test_with_a_state_folder_that_is_a_file_nothing_is_paid(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """As unwritable as a folder can be, also for root. Once it is a folder, work is done."""
    state = make_state(environ)
    state.rmdir()
    state.touch()
    async with serving(environ, gemini) as kernel:
        await check_unpaid(kernel, environ, gemini)
        state.unlink()
        assert (await kernel.run("paid_once", {"question": "and now?"})).error is None


async def test_without_a_journal_that_takes_records_nothing_is_paid(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    (make_state(environ) / "journal.db").mkdir()
    async with serving(environ, gemini) as kernel:
        await check_unpaid(kernel, environ, gemini)


async def test_without_a_cache_nothing_is_paid_that_is_to_be_found_there_again(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    results = make_state(environ, "VR_CACHE_DIR") / "results.db"
    results.mkdir()
    async with serving(environ, gemini) as kernel:
        error = (await kernel.run("paid_once", {"question": "b"})).error
        assert isinstance(error, VrError)
        assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
        assert str(results.parent) in error.hint
        assert gemini.bill.calls == 0
        # What is not kept in the cache has its place in the journal and with who asks.
        assert (await kernel.run("paid_batch", {"name": "a", "items": 1})).error is None
        results.rmdir()
        assert (await kernel.run("paid_once", {"question": "b"})).error is None


async def check_unpaid(kernel: Kernel, environ: Mapping[str, str], gemini: FakeGemini) -> None:
    """A reply that could not be kept is not asked for, and the error names the folder."""
    calls = [("paid_batch", {"name": "a", "items": 3}), ("paid_once", {"question": "b"})]
    for name, arguments in calls:
        error = (await kernel.run(name, arguments)).error
        assert isinstance(error, VrError)
        assert (error.code, error.category) == (Code.UNAVAILABLE, "STATE_UNAVAILABLE")
        assert environ["VR_STATE_DIR"] in error.hint
    assert gemini.bill.calls == 0
    assert gemini.requests == []


async def test_a_ledger_that_breaks_under_way_fails_no_call(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """Its tables are gone while a job runs."""
    gemini.latency = 0.05
    async with serving(environ, gemini) as kernel:
        running = kernel.start("paid_batch", {"name": "broken", "items": ITEMS, "at_once": 1})
        await until(lambda: steps_of(environ) >= 2)
        path = Path(environ["VR_STATE_DIR"], "jobs.db")
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            for name in ("job", "step", "lease"):
                connection.execute(f"DROP TABLE {name}")
        gemini.latency = 0.0
        outcome = await running.outcome()
        assert outcome.error is None
        assert len(outcome.data["texts"]) == ITEMS
        assert any("A crash would lose paid work" in note for note in outcome.notes)
    assert sum(asked(gemini).values()) == ITEMS


def damage(path: Path, whole: bytes, chance: random.Random) -> None:
    """Write a database with some bytes changed, and nothing beside it."""
    damaged = bytearray(whole)
    for _ in range(chance.choice((1, 10, 100))):
        begin, size = chance.randrange(len(whole)), chance.choice((1, 1, 16, 512))
        damaged[begin : begin + size] = chance.randbytes(len(damaged[begin : begin + size]))
    path.write_bytes(damaged)
    for suffix in ("-wal", "-shm"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


@pytest.mark.slow
async def test_no_damage_within_the_ledger_fails_a_call(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    """Bytes of the file are changed while a job is interrupted; other work goes on."""
    chance, path = random.Random(5), Path(environ["VR_STATE_DIR"], "jobs.db")
    await interrupted(environ, gemini, 3)
    whole = await asyncio.to_thread(path.read_bytes)
    for number in range(100):
        await asyncio.to_thread(damage, path, whole, chance)
        async with serving(environ, gemini) as kernel, asyncio.timeout(20):
            batch = await kernel.run("paid_batch", {"name": f"batch {number}", "items": 2})
            assert batch.error is None, batch.error.as_dict("")
            assert batch.data["texts"][1] == f"A fake answer to: batch {number} item 1"
            once = await kernel.run("paid_once", {"question": f"once {number}"})
            assert once.error is None, once.error.as_dict("")
            listed = await kernel.run("job_list", {})
            assert listed.error is None or listed.error.category.startswith("STATE_")
    assert len(recorded(environ["VR_STATE_DIR"])) >= 300


@tool(effects=READ_ONLY, long=True)
async def odd_arguments(call: Call, text: str, numbers: dict[str, Any]) -> Found:
    """Say what was given."""

    async def work() -> str:
        return json.dumps([text, numbers])

    said = await call.step("say", work)
    if not call.services.providers.go_on:  # type: ignore[attr-defined]  # set by the test
        await asyncio.Event().wait()
    return Found(text=said + json.dumps([text, numbers]))


async def test_a_resumed_call_has_the_same_arguments(
    environ: Mapping[str, str], gemini: FakeGemini, make_plugin: Any
) -> None:
    given = {"text": "caf\u00e9 \U0001f600\u2028\0", "numbers": {"a": 1e300, "b": [None, True, ""]}}
    plugin = make_plugin([odd_arguments])
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        kernel.services.providers.go_on = False  # type: ignore[attr-defined]
        running = kernel.start("odd_arguments", given)
        await until(lambda: steps_of(environ) == 1)
    async with paid_kernel(environ, gemini, plugin=plugin) as kernel:
        kernel.services.providers.go_on = True  # type: ignore[attr-defined]
        ended = await kernel.call("job_result", job_id=running.id)
        assert ended.result["text"] == json.dumps(list(given.values())) * 2


@contextmanager
def journal_held(environ: Mapping[str, str]) -> Iterator[None]:
    """A neighbour stands still in the middle of writing to the journal."""
    path = Path(environ["VR_STATE_DIR"], "journal.db")
    with closing(sqlite3.connect(path, isolation_level=None)) as neighbour:
        neighbour.execute("BEGIN IMMEDIATE")
        yield
        neighbour.rollback()


@pytest.mark.slow
async def test_a_resumed_job_does_not_fail_for_a_neighbour_that_stands_still(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    job_id = await interrupted(environ, gemini, 0)

    def waits() -> bool:
        query = "SELECT message FROM job WHERE id = ?"
        return "holds journal.db" in rows(environ["VR_STATE_DIR"], "jobs.db", query, job_id)[0][0]

    async with serving(environ, gemini) as kernel:
        with journal_held(environ):
            await until(waits)
        assert (await kernel.call("job_result", job_id=job_id)).state == "done"
    assert len(recorded(environ["VR_STATE_DIR"])) == ITEMS


@pytest.mark.slow
async def test_what_was_paid_beside_a_neighbour_that_stands_still_is_recorded_at_the_end(
    environ: Mapping[str, str], gemini: FakeGemini
) -> None:
    job_id = await interrupted(environ, gemini, 1)
    async with serving(environ, gemini) as kernel:
        with journal_held(environ):
            assert (await kernel.call("job_result", job_id=job_id)).state == "done"
    assert len(recorded(environ["VR_STATE_DIR"])) == ITEMS
