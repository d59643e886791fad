"""Leases: one owner at a time, and an owner that knows when it is none any more."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import AsyncExitStack, closing, contextmanager
from pathlib import Path

import pytest
from lease_probe import is_owned
from ledger_state import ledger_state
from vr_kernel import VrError
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.leases import steady_clock
from vr_kernel.state.sqlite.ledger import open_ledger
from waiting import always, until

LONG_S = 300.0
SHORT_S = 0.2
"""Beats every 0.04 s; its time passes only with the test's clock, however busy the machine."""
MakeLeases = Callable[..., LedgerLeases]


class Clock:
    """A clock that the test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "jobs.db"


@pytest.fixture
async def process(path: Path) -> AsyncIterator[MakeLeases]:
    """Makes the leases of one more process, with a connection of its own."""
    async with AsyncExitStack() as stack:

        def make(
            lease_s: float = LONG_S,
            clock: Callable[[], float] = time.time,
            steady: Callable[[], float] = steady_clock,
        ) -> LedgerLeases:
            database = open_ledger(path)
            stack.callback(database.close)
            leases = LedgerLeases(
                ledger_state(database, lease_s=lease_s, clock=clock, steady=steady)
            )
            stack.push_async_callback(leases.aclose)
            return leases

        yield make


@contextmanager
def locked(path: Path) -> Iterator[None]:
    """Nobody else writes meanwhile."""
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        connection.execute("BEGIN IMMEDIATE")
        yield
        connection.rollback()


def _execute(path: Path, statement: str) -> None:
    with closing(sqlite3.connect(path, timeout=30)) as connection:
        connection.execute(statement)
        connection.commit()


async def renewed(path: Path, clock: Clock, count: int) -> None:
    """Wait until a heartbeat has renewed so many leases at the present time."""

    def ends() -> bool:
        with closing(sqlite3.connect(path, timeout=30)) as connection:
            found = connection.execute("SELECT expires_at FROM lease").fetchall()
        return found == [(clock.now + SHORT_S,)] * count

    await until(ends)


async def test_one_owner_at_a_time(process: MakeLeases) -> None:
    here, there = process(), process()
    lease = await here.acquire("a")
    assert lease is not None
    assert not lease.lost
    lease.check()
    assert await here.acquire("a") is None
    assert await there.acquire("a") is None
    assert await there.acquire("b") is not None
    assert [await is_owned(there, name) for name in "abc"] == [True, True, False]


async def test_of_many_that_ask_at_once_one_gets_it(process: MakeLeases) -> None:
    processes = [process() for _ in range(6)]
    for name in "abcd":
        got = await asyncio.gather(*(leases.acquire(name) for leases in processes for _ in "12"))
        assert len([lease for lease in got if lease]) == 1


async def test_a_token_rises_with_every_owner(process: MakeLeases) -> None:
    tokens = []
    for leases in [process(), process(), process()]:
        for name in "aba":
            lease = await leases.acquire(name)
            tokens.append(lease.token)
            await leases.release(lease)
    assert tokens == sorted(set(tokens))


async def test_a_release_lets_others_in_and_may_be_repeated(process: MakeLeases) -> None:
    here, there = process(), process()
    first = await here.acquire("a")
    await here.release(first)
    assert first.lost
    assert not first.lost_event.is_set()
    assert not await is_owned(here, "a")
    second = await there.acquire("a")
    await here.release(first)
    await here.release(first)
    assert await is_owned(here, "a")
    assert not second.lost


async def test_a_lease_that_ran_out_is_lost_before_another_gets_it(process: MakeLeases) -> None:
    clock = Clock()
    here, there = process(clock=clock, steady=clock), process(clock=clock, steady=clock)
    first = await here.acquire("a")
    clock.now += LONG_S - 1
    assert not first.lost
    assert await there.acquire("a") is None
    clock.now += 1
    assert first.lost
    with pytest.raises(VrError) as caught:
        first.check()
    assert (caught.value.code, caught.value.category) == ("CONFLICT", "LEASE_LOST")
    assert caught.value.retryable
    second = await there.acquire("a")
    assert second.token > first.token
    await here.release(first)
    assert await is_owned(there, "a")


async def test_an_end_far_in_the_future_was_a_wrong_clock(process: MakeLeases) -> None:
    clock = Clock()
    clock.now += 400 * 86_400
    wrong, right = process(clock=clock), process()
    first = await wrong.acquire("a")
    assert not await is_owned(right, "a")
    second = await right.acquire("a")
    assert second.token > first.token


async def test_a_heartbeat_keeps_all_leases(process: MakeLeases, path: Path) -> None:
    clock = Clock()
    here, there = (process(SHORT_S, clock, clock) for _ in "12")
    leases = [await here.acquire(name) for name in "abc"]
    for _ in range(3):
        clock.now += 0.75 * SHORT_S
        await renewed(path, clock, 3)
        assert [await there.acquire(name) for name in "abc"] == [None] * 3
        assert not any(lease.lost for lease in leases)


async def test_a_dead_owner_is_followed(process: MakeLeases, path: Path) -> None:
    clock = Clock()
    _open(path)
    _execute(path, f"INSERT INTO lease (name, expires_at) VALUES ('a', {clock.now + SHORT_S})")
    there = process(SHORT_S, clock, clock)
    assert await there.acquire("a") is None
    clock.now += SHORT_S
    assert await there.acquire("a")


async def test_whose_lease_was_taken_is_told(process: MakeLeases) -> None:
    clock = Clock()
    clock.now += 100
    here, ahead = process(SHORT_S, steady=Clock()), process(clock=clock)
    lease, other = await here.acquire("a"), await here.acquire("b")
    assert await ahead.acquire("a") is not None
    await asyncio.wait_for(lease.lost_event.wait(), 30)
    assert lease.lost
    assert not other.lost_event.is_set()


async def test_time_runs_out_while_the_ledger_does_not_answer(
    process: MakeLeases, path: Path
) -> None:
    clock = Clock()
    here, there = (process(SHORT_S, clock, clock) for _ in "12")
    lease = await here.acquire("a")
    with locked(path):
        clock.now += SHORT_S
        await asyncio.wait_for(lease.lost_event.wait(), 30)
        assert lease.lost
    assert await until(lambda: there.acquire("a"))
    assert lease.lost


async def test_a_stall_is_noticed_and_not_forgotten(process: MakeLeases) -> None:
    clock = Clock()
    here = process(SHORT_S, clock, clock)
    lease = await here.acquire("a")
    clock.now += 1.5 * SHORT_S
    assert lease.lost
    await asyncio.wait_for(lease.lost_event.wait(), 30)
    await always(lambda: lease.lost, 0.5 * SHORT_S)
    assert await here.acquire("a") is not None


async def test_a_wall_clock_that_stands_still_keeps_no_lease(process: MakeLeases) -> None:
    steady = Clock()
    lease = await process(clock=Clock(), steady=steady).acquire("a")
    steady.now += LONG_S
    assert lease.lost


async def test_a_renewal_that_comes_too_late_is_none(process: MakeLeases, path: Path) -> None:
    clock = Clock()
    lease = await process(SHORT_S, clock, clock).acquire("a")
    with locked(path):
        await always(lambda: not lease.lost, 0.3 * SHORT_S)
        clock.now += SHORT_S
        assert lease.lost
    await asyncio.wait_for(lease.lost_event.wait(), 30)
    assert lease.lost


async def test_the_heartbeat_survives_a_ledger_that_cannot_be_written(
    process: MakeLeases, path: Path
) -> None:
    clock = Clock()
    here, there = (process(SHORT_S, clock, clock) for _ in "12")
    lease = await here.acquire("a")
    _execute(path, "ALTER TABLE lease RENAME TO elsewhere")
    with pytest.raises(VrError, match="cannot be used"):
        await here.acquire("b")
    await always(lambda: not lease.lost, 0.5 * SHORT_S)
    _execute(path, "ALTER TABLE elsewhere RENAME TO lease")
    clock.now += 0.75 * SHORT_S
    await renewed(path, clock, 1)
    assert await there.acquire("a") is None
    assert not lease.lost


async def test_tools_that_fill_all_threads_cost_no_lease(process: MakeLeases, path: Path) -> None:
    clock = Clock()
    lease = await process(SHORT_S, clock, clock).acquire("a")
    free = threading.Event()
    busy = [asyncio.create_task(asyncio.to_thread(free.wait, 60)) for _ in range(40)]
    try:
        await asyncio.sleep(0)  # they begin
        clock.now += 0.75 * SHORT_S
        await renewed(path, clock, 1)
        assert not lease.lost
    finally:
        free.set()
    await asyncio.gather(*busy)


async def test_who_is_cancelled_while_asking_owns_nothing(process: MakeLeases, path: Path) -> None:
    here, there = process(), process()
    await is_owned(there, "a")
    with locked(path):
        asking = asyncio.create_task(here.acquire("a"))
        for _ in range(5):
            await asyncio.sleep(0)
            asking.cancel()
    with pytest.raises(asyncio.CancelledError):
        await asking
    assert await there.acquire("a") is not None


async def test_closing_releases_and_tells(process: MakeLeases) -> None:
    here, there = process(), process()
    held = [await here.acquire(name) for name in "ab"]
    await here.aclose()
    await here.aclose()
    assert all(lease.lost and lease.lost_event.is_set() for lease in held)
    assert "vr-leases" not in {task.get_name() for task in asyncio.all_tasks()}
    assert [await is_owned(there, name) for name in "ab"] == [False, False]
    again = await here.acquire("a")
    assert not again.lost


async def test_closing_what_was_never_used_opens_nothing(process: MakeLeases, path: Path) -> None:
    await process().aclose()
    assert not await asyncio.to_thread(path.exists)


async def test_a_ledger_that_cannot_be_made_is_a_typed_error(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    leases = LedgerLeases(ledger_state(open_ledger(tmp_path / "file" / "jobs.db"), lease_s=LONG_S))
    with pytest.raises(VrError) as caught:
        await leases.acquire("a")
    assert caught.value.code == "UNAVAILABLE"
    await leases.aclose()


async def test_rows_of_the_dead_do_not_pile_up(process: MakeLeases, path: Path) -> None:
    clock = Clock()
    here, there = process(clock=clock, steady=clock), process(clock=clock, steady=clock)
    for number in range(5):
        await here.acquire(f"flight/{number}")
    clock.now += 2 * 86_400
    await there.acquire("flight/new")
    with closing(sqlite3.connect(path)) as connection:
        assert connection.execute("SELECT name FROM lease").fetchall() == [("flight/new",)]


def _open(path: Path) -> None:
    with closing(open_ledger(path)) as database:
        database.run_blocking(lambda _: None)
