"""Jobs: what is asked is done once, by one process at a time, and found again by its owner."""

from __future__ import annotations

import asyncio
import sqlite3
import time
import uuid
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from ledger_state import ledger_state
from vr_kernel import VrError
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.state.jobs import Job, job_scope
from vr_kernel.state.sqlite.ledger import open_ledger

LEASE_S = 300.0
IDS = [f"{number:032x}" for number in range(20)]


class Clock:
    """A wall clock that the test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
async def process(path: Path, clock: Clock) -> AsyncIterator[Callable[[], JobLedger]]:
    """Makes the jobs of one more process, with a connection of its own."""
    async with AsyncExitStack() as stack:

        def make() -> JobLedger:
            database = open_ledger(path)
            stack.callback(database.close)
            leases = LedgerLeases(
                ledger_state(database, lease_s=LEASE_S, clock=clock, steady=clock)
            )
            stack.push_async_callback(leases.aclose)
            return JobLedger(leases.state, leases)

        yield make


@pytest.fixture
def jobs(process: Callable[[], JobLedger]) -> JobLedger:
    return process()


@pytest.fixture
def elsewhere(process: Callable[[], JobLedger]) -> JobLedger:
    """The same jobs, in another process."""
    return process()


async def _create(
    jobs: JobLedger, job_id: str = IDS[0], principal: str = "ann", **more: Any
) -> str:
    await jobs.table.create(
        id=job_id,
        tool="video_analyze",
        arguments={"url": "https://example.org", "parts": [1, None]},
        principal=principal,
        workspace="default",
        **more,
    )
    return job_id


def _execute(path: Path, statement: str, *values: Any) -> None:
    with closing(sqlite3.connect(path)) as connection:
        connection.execute(statement, values)
        connection.commit()


async def _states(jobs: JobLedger, principal: str = "ann") -> dict[str, str]:
    return {job.id: job.state for job in await jobs.table.list(principal)}


async def test_a_job_is_found_as_it_was_made(
    jobs: JobLedger, elsewhere: JobLedger, clock: Clock
) -> None:
    await _create(jobs, version="2")
    assert await elsewhere.find(IDS[0], "ann") == Job(
        id=IDS[0],
        tool="video_analyze",
        arguments={"url": "https://example.org", "parts": [1, None]},
        principal="ann",
        workspace="default",
        state="running",
        done=0.0,
        total=None,
        message="",
        runs=0,
        version="2",
        result=None,
        error=None,
        created_at=clock.now,
        updated_at=clock.now,
    )


async def test_making_a_job_again_changes_nothing(jobs: JobLedger, clock: Clock) -> None:
    await _create(jobs)
    lease = await jobs.begin(IDS[0])
    await jobs.finish(IDS[0], lease, state="done", result={"answer": 1})
    before = await jobs.find(IDS[0], "ann")
    clock.now += 1
    await _create(jobs, principal="bob", version="3")
    assert await jobs.find(IDS[0], "ann") == before


async def test_a_job_from_begin_to_end(jobs: JobLedger, elsewhere: JobLedger, clock: Clock) -> None:
    await _create(jobs)
    lease = await jobs.begin(IDS[0])
    assert await jobs.begin(IDS[0]) is None
    assert await elsewhere.begin(IDS[0]) is None
    clock.now += 5
    await jobs.table.report(IDS[0], 3, 10, "three of ten")
    seen = await elsewhere.find(IDS[0], "ann")
    assert (seen.state, seen.done, seen.total, seen.message) == ("running", 3, 10, "three of ten")
    assert (seen.runs, seen.updated_at - seen.created_at) == (1, 5)
    assert await jobs.finish(IDS[0], lease, state="done", result={"answer": ["ä", None]})
    ended = await elsewhere.find(IDS[0], "ann")
    assert ended == replace(seen, state="done", result={"answer": ["ä", None]})
    assert lease.lost
    assert await elsewhere.begin(IDS[0]) is None
    assert await jobs.begin(IDS[0]) is None
    await jobs.table.report(IDS[0], 4, 10, "late")
    assert await jobs.find(IDS[0], "ann") == ended


async def test_a_failed_job_says_why(jobs: JobLedger) -> None:
    await _create(jobs)
    error = VrError("No.").as_dict(IDS[0])
    lease = await jobs.begin(IDS[0])
    assert await jobs.finish(IDS[0], lease, state="failed", error=error)
    job = await jobs.find(IDS[0], "ann")
    assert (job.state, job.error, job.result) == ("failed", error, None)


async def test_of_many_that_begin_at_once_one_does(process: Callable[[], JobLedger]) -> None:
    everybody = [process() for _ in range(4)]
    await _create(everybody[0])
    leases = await asyncio.gather(*(jobs.begin(IDS[0]) for jobs in everybody for _ in "12"))
    assert len([lease for lease in leases if lease]) == 1
    assert (await everybody[0].find(IDS[0], "ann")).runs == 1


async def test_a_job_nobody_made_cannot_begin(jobs: JobLedger) -> None:
    assert await jobs.begin(IDS[0]) is None
    await _create(jobs)
    assert await jobs.begin(IDS[0]) is not None


async def test_a_dead_owner_is_followed_and_fenced(
    jobs: JobLedger, elsewhere: JobLedger, clock: Clock
) -> None:
    await _create(jobs)
    first = await jobs.begin(IDS[0])
    assert await elsewhere.table.orphans() == []
    clock.now += LEASE_S + 1
    interrupted = await elsewhere.find(IDS[0], "ann")
    assert interrupted.state == "interrupted"
    assert await elsewhere.table.orphans() == [interrupted]
    second = await elsewhere.begin(IDS[0])
    assert second.token > first.token
    assert (await elsewhere.find(IDS[0], "ann")).runs == 2
    assert not await jobs.finish(IDS[0], first, state="failed", error={})
    assert (await jobs.find(IDS[0], "ann")).state == "running"
    assert await elsewhere.finish(IDS[0], second, state="done", result={})
    assert not await elsewhere.finish(IDS[0], second, state="failed", error={})
    assert (await jobs.find(IDS[0], "ann")).state == "done"


async def test_a_lease_of_another_job_ends_nothing(jobs: JobLedger) -> None:
    lease = await jobs.begin(await _create(jobs, IDS[0]))
    assert not await jobs.finish(await _create(jobs, IDS[1]), lease, state="done", result={})
    assert (await jobs.find(IDS[1], "ann")).state == "running"


async def test_a_process_that_closes_leaves_its_jobs_to_others(path: Path, jobs: JobLedger) -> None:
    with closing(open_ledger(path)) as database:
        leases = LedgerLeases(ledger_state(database, lease_s=LEASE_S))
        closing_one = JobLedger(leases.state, leases)
        await _create(closing_one)
        lease = await closing_one.begin(IDS[0])
        await leases.aclose()
        assert lease.lost_event.is_set()
    assert [job.id for job in await jobs.table.orphans()] == [IDS[0]]
    assert await jobs.begin(IDS[0]) is not None


async def test_a_job_that_was_just_made_is_nobodys_orphan(
    jobs: JobLedger, elsewhere: JobLedger, clock: Clock
) -> None:
    await _create(jobs)
    assert await elsewhere.table.orphans() == []
    assert (await elsewhere.find(IDS[0], "ann")).state == "running"
    clock.now += LEASE_S + 1
    assert [job.state for job in await elsewhere.table.orphans()] == ["interrupted"]


@pytest.mark.parametrize("ask", ["find", "ask_cancel"])
async def test_other_peoples_jobs_are_as_unknown_as_none(jobs: JobLedger, ask: str) -> None:
    await _create(jobs)
    seen = []
    for job_id in (IDS[0], IDS[1]):
        with pytest.raises(VrError) as caught:
            await getattr(jobs, ask)(job_id, "bob")
        assert (caught.value.code, caught.value.category) == ("NOT_FOUND", "JOB_UNKNOWN")
        seen.append({k: str(v).replace(job_id, "ID") for k, v in vars(caught.value).items()})
    assert seen[0] == seen[1]
    assert await jobs.table.list("bob") == []
    assert await _states(jobs) == {IDS[0]: "running"}


@pytest.mark.parametrize(
    "job_id", ["", "1", IDS[0] + "0", IDS[10].upper(), "g" * 32, "0" * 31 + "\n"]
)
async def test_what_is_no_id_is_refused(jobs: JobLedger, job_id: str) -> None:
    asks: list[Callable[[], Awaitable[Any]]] = [
        lambda: jobs.find(job_id, "ann"),
        lambda: jobs.ask_cancel(job_id, "ann"),
    ]
    for ask in asks:
        with pytest.raises(VrError) as caught:
            await ask()
        assert (caught.value.code, caught.value.category) == ("INVALID_INPUT", "JOB_ID_INVALID")


async def test_the_list_is_newest_first_with_a_limit_and_states(
    jobs: JobLedger, clock: Clock
) -> None:
    for number in range(6):
        clock.now += 1 if number % 2 else 0
        await _create(jobs, IDS[number])
    done, failed, _working = [await jobs.begin(IDS[number]) for number in (0, 1, 2)]
    await jobs.finish(IDS[0], done, state="done", result={})
    await jobs.finish(IDS[1], failed, state="failed", error={})
    await jobs.ask_cancel(IDS[3], "ann")
    assert [job.id for job in await jobs.table.list("ann")] == IDS[5::-1]
    assert [job.id for job in await jobs.table.list("ann", limit=2)] == [IDS[5], IDS[4]]
    expected = {"done": [0], "failed": [1], "cancelled": [3], "running": [5, 4, 2]}
    for state, numbers in expected.items():
        listed = await jobs.table.list("ann", states=[state])
        assert [job.id for job in listed] == [IDS[number] for number in numbers]
        assert {job.state for job in listed} == {state}
    assert await jobs.table.list("ann", states=[]) == []
    clock.now += LEASE_S + 1
    listed = await jobs.table.list("ann", states={"interrupted", "done"})
    assert [job.id for job in listed] == [IDS[number] for number in (5, 4, 2, 0)]


async def test_cancelling_what_nobody_works_on_ends_it(
    jobs: JobLedger, elsewhere: JobLedger, clock: Clock
) -> None:
    for job_id in IDS[:2]:
        await _create(jobs, job_id)
    await jobs.begin(IDS[1])
    clock.now += LEASE_S + 1
    for job_id in IDS[:2]:
        assert (await elsewhere.ask_cancel(job_id, "ann")).state == "cancelled"
        assert await jobs.begin(job_id) is None
    assert await jobs.table.orphans() == []


async def test_cancelling_asks_the_owner(jobs: JobLedger, elsewhere: JobLedger) -> None:
    lease = await jobs.begin(await _create(jobs))
    assert await jobs.table.cancel_asked([IDS[0]]) == set()
    for _ in range(2):
        assert (await elsewhere.ask_cancel(IDS[0], "ann")).state == "running"
    assert await jobs.table.cancel_asked(IDS) == {IDS[0]}
    assert await jobs.finish(IDS[0], lease, state="cancelled")
    ended = await elsewhere.ask_cancel(IDS[0], "ann")
    assert (ended.state, ended.result, ended.error) == ("cancelled", None, None)


async def test_cancelling_what_is_over_changes_nothing(jobs: JobLedger) -> None:
    lease = await jobs.begin(await _create(jobs))
    await jobs.finish(IDS[0], lease, state="done", result={"answer": 1})
    job = await jobs.find(IDS[0], "ann")
    assert await jobs.ask_cancel(IDS[0], "ann") == job
    assert await jobs.table.cancel_asked([IDS[0]]) == set()


async def test_an_owner_that_dies_when_asked_to_stop_leaves_a_cancelled_job(
    jobs: JobLedger, elsewhere: JobLedger, clock: Clock
) -> None:
    lease = await jobs.begin(await _create(jobs))
    await elsewhere.ask_cancel(IDS[0], "ann")
    clock.now += LEASE_S + 1
    assert await elsewhere.begin(IDS[0]) is None
    assert await elsewhere.table.orphans() == []
    assert await _states(elsewhere) == {IDS[0]: "cancelled"}
    assert not await jobs.finish(IDS[0], lease, state="done", result={})


async def test_reports_that_are_no_numbers_do_no_harm(jobs: JobLedger) -> None:
    await _create(jobs)
    await jobs.table.report(IDS[0], float("nan"), float("inf"), "half \ud800 way")
    job = await jobs.find(IDS[0], "ann")
    assert (job.done, job.total, job.message) == (0.0, None, "half ? way")


@pytest.mark.parametrize(
    "damage",
    [
        "arguments = '{'",
        "arguments = '[1]'",
        "arguments = x'ff'",
        "arguments = CAST(x'7bff7d' AS TEXT)",
        f"arguments = '{'[' * 5000}'",
        "result = 'x'",
        "error = 7",
        "done = 'half'",
        "total = x'00'",
        "state = 'lost'",
    ],
)
async def test_a_damaged_job_has_failed_and_hides_no_other(
    jobs: JobLedger, path: Path, clock: Clock, damage: str
) -> None:
    for job_id in IDS[:3]:
        await _create(jobs, job_id)
    _execute(path, f"UPDATE job SET {damage} WHERE id = ?", IDS[1])
    assert await _states(jobs) == {IDS[0]: "running", IDS[1]: "failed", IDS[2]: "running"}
    job = await jobs.find(IDS[1], "ann")
    assert job.error["category"] == "JOB_DAMAGED"
    assert (job.tool, job.arguments) == ("video_analyze", {})
    clock.now += LEASE_S + 1
    for limit in (2, 3):
        assert IDS[1] not in [job.id for job in await jobs.table.orphans(limit)]
    assert [job.id for job in await jobs.table.orphans(2)] == [IDS[0], IDS[2]]


@pytest.mark.parametrize("column", ["tool", "message", "workspace", "version"])
async def test_text_that_is_no_text_hides_nothing(jobs: JobLedger, path: Path, column: str) -> None:
    await _create(jobs)
    _execute(path, f"UPDATE job SET {column} = CAST(x'61ff62' AS TEXT)")
    assert getattr(await jobs.find(IDS[0], "ann"), column) == "a\ufffdb"


async def test_pruning_takes_what_ended_and_its_steps(
    jobs: JobLedger, path: Path, clock: Clock
) -> None:
    with closing(open_ledger(path)) as database:
        steps = Steps(ledger_state(database))
        for job_id in IDS[:5]:
            await _create(jobs, job_id)
            await steps.commit(job_scope(job_id), "1", "paid")
        await steps.commit("other", "1", "paid")
        leases = [await jobs.begin(job_id) for job_id in IDS[:4]]
        await jobs.finish(IDS[0], leases[0], state="done", result={})
        await jobs.ask_cancel(IDS[1], "ann")
        clock.now += 1000
        await jobs.finish(IDS[2], leases[2], state="failed", error={})
        assert await jobs.table.prune(100) == 1
        assert await _states(jobs) == {
            IDS[1]: "cancelled",
            IDS[2]: "failed",
            IDS[3]: "interrupted",
            IDS[4]: "interrupted",
        }
        clock.now += 200
        assert await jobs.table.prune(100) == 2
        assert await _states(jobs) == {IDS[3]: "interrupted", IDS[4]: "interrupted"}
        kept = [await steps.find(job_scope(job_id), "1") for job_id in IDS[:5]]
        assert kept == [None, None, None, "paid", "paid"]
        assert await steps.find("other", "1") == "paid"


async def test_a_cancelled_begin_leaves_the_job_to_others(
    jobs: JobLedger, elsewhere: JobLedger, path: Path
) -> None:
    await _create(jobs)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        beginning = asyncio.create_task(jobs.begin(IDS[0]))
        await asyncio.sleep(0)
        beginning.cancel()
        await asyncio.sleep(0)
        connection.rollback()
    with pytest.raises(asyncio.CancelledError):
        await beginning
    assert await elsewhere.begin(IDS[0]) is not None


async def test_a_ledger_that_cannot_be_used_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    database = open_ledger(tmp_path / "file" / "jobs.db")
    state = ledger_state(database, lease_s=LEASE_S)
    jobs = JobLedger(state, LedgerLeases(state))
    asks: list[Callable[[], Awaitable[Any]]] = [
        lambda: _create(jobs, uuid.uuid4().hex),
        lambda: jobs.begin(IDS[0]),
        lambda: jobs.find(IDS[0], "ann"),
        lambda: jobs.table.list("ann"),
        lambda: jobs.table.report(IDS[0], 1),
        lambda: jobs.ask_cancel(IDS[0], "ann"),
        lambda: jobs.table.cancel_asked(IDS),
        jobs.table.orphans,
        lambda: jobs.table.prune(0),
    ]
    for ask in asks:
        with pytest.raises(VrError) as caught:
            await ask()
        assert caught.value.code == "UNAVAILABLE"


async def test_a_job_that_cannot_be_counted_is_released(
    path: Path, jobs: JobLedger, elsewhere: JobLedger
) -> None:
    await _create(jobs)
    _execute(path, "ALTER TABLE job RENAME TO gone")
    with pytest.raises(VrError, match="cannot be used"):
        await jobs.begin(IDS[0])
    _execute(path, "ALTER TABLE gone RENAME TO job")
    assert await elsewhere.begin(IDS[0]) is not None


async def test_a_job_that_cannot_be_ended_is_released(
    path: Path, jobs: JobLedger, elsewhere: JobLedger
) -> None:
    lease = await jobs.begin(await _create(jobs))
    _execute(path, "ALTER TABLE job RENAME TO gone")
    with pytest.raises(VrError, match="cannot be used"):
        await jobs.finish(IDS[0], lease, state="done", result={})
    _execute(path, "ALTER TABLE gone RENAME TO job")
    assert await elsewhere.begin(IDS[0]) is not None
