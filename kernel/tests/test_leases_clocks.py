"""Leases outlive clocks that are set: a live one is not taken, a dead one does not last."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, closing
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from lease_probe import is_owned
from ledger_state import ledger_state
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import BEATS, LedgerLeases
from vr_kernel.state.sqlite.ledger import LEDGER_SCHEMA, open_ledger
from vr_kernel.state.sqlite.liveness import Watch

LEASE_S = 20.0
TICK_S = LEASE_S / BEATS
JOB = "0" * 32
HOUR_S = 3600.0


class Machine:
    """A computer with a clock that can be set, and one that cannot."""

    def __init__(self) -> None:
        self.wall = time.time()
        self.steady = 1000.0

    def pass_by(self, seconds: float) -> None:
        """Let time pass."""
        self.wall += seconds
        self.steady += seconds


@pytest.fixture
def machine() -> Machine:
    return Machine()


@pytest.fixture
def process(
    tmp_path: Path, machine: Machine
) -> Iterator[Callable[[], tuple[LedgerLeases, JobLedger]]]:
    """Makes the leases and jobs of one more process; nobody renews a lease by himself."""
    with ExitStack() as stack:

        def make() -> tuple[LedgerLeases, JobLedger]:
            ledger = stack.enter_context(closing(open_ledger(tmp_path / "jobs.db")))
            leases = LedgerLeases(
                ledger_state(
                    ledger,
                    lease_s=LEASE_S,
                    clock=lambda: machine.wall,
                    steady=lambda: machine.steady,
                )
            )
            return leases, JobLedger(leases.state, leases)

        yield make


def renew(path: Path, machine: Machine) -> None:
    """Do what the heartbeat of an owner does."""
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("UPDATE lease SET expires_at = ?", (machine.wall + LEASE_S,))
        connection.commit()


async def begun(jobs: JobLedger) -> None:
    await jobs.table.create(id=JOB, tool="any", arguments={}, principal="me", workspace="w")
    assert await jobs.begin(JOB) is not None


async def test_a_job_whose_owner_died_before_the_clock_was_set_back(
    process: Callable[[], tuple[LedgerLeases, JobLedger]], machine: Machine
) -> None:
    await begun(process()[1])
    machine.wall -= HOUR_S
    _, jobs = process()
    assert (await jobs.find(JOB, "me")).state == "interrupted"
    assert [job.id for job in await jobs.table.orphans()] == [JOB]
    assert await jobs.begin(JOB) is not None
    assert (await jobs.find(JOB, "me")).state == "running"


async def test_a_clock_that_was_set_back_a_little_keeps_nobody_alive(
    process: Callable[[], tuple[LedgerLeases, JobLedger]], machine: Machine
) -> None:
    await begun(process()[1])
    machine.wall -= HOUR_S / 12
    _, jobs = process()
    assert (await jobs.find(JOB, "me")).state == "running"  # as far as one look tells
    machine.pass_by(LEASE_S)
    assert (await jobs.find(JOB, "me")).state == "interrupted"
    assert await jobs.begin(JOB) is not None


@pytest.mark.parametrize("jump", [HOUR_S, 30 * 24 * HOUR_S, -HOUR_S, -30 * 24 * HOUR_S])
async def test_a_live_owner_keeps_its_job_whatever_the_clock_is_set_to(
    process: Callable[[], tuple[LedgerLeases, JobLedger]],
    machine: Machine,
    tmp_path: Path,
    jump: float,
) -> None:
    owner, owned = process()
    other, jobs = process()
    await begun(owned)
    lease = await owner.acquire("more")
    machine.wall += jump
    for number in range(3 * BEATS):
        assert (await jobs.find(JOB, "me")).state == "running"
        assert await jobs.begin(JOB) is None
        assert await other.acquire("more") is None
        assert await other.acquire(f"new {number}") is not None  # which tidies up
        renew(tmp_path / "jobs.db", machine)
        machine.pass_by(TICK_S)
    assert await is_owned(owner, "more")
    assert lease is not None
    assert lease.lost  # nobody renewed it for the owner, by whose clock its time is over
    machine.pass_by(LEASE_S)
    assert (await jobs.find(JOB, "me")).state == "interrupted"


async def test_an_owner_does_not_look_at_the_wall_clock(
    process: Callable[[], tuple[LedgerLeases, JobLedger]], machine: Machine
) -> None:
    owner, _ = process()
    lease = await owner.acquire("a")
    assert lease is not None
    for jump in (HOUR_S, -5 * HOUR_S):
        machine.wall += jump
        machine.pass_by(LEASE_S / 3)
        lease.check()
    machine.pass_by(LEASE_S / 2)
    assert lease.lost


@given(
    jumps=st.dictionaries(st.integers(0, 40), st.floats(-1e7, 1e7), max_size=6),
    dies=st.integers(0, 30),
)
def test_whoever_looks_all_the_time_knows_who_lives(jumps: dict[int, float], dies: int) -> None:
    machine = Machine()
    watch = Watch(LEASE_S, lambda: machine.wall, lambda: machine.steady)
    with closing(sqlite3.connect(":memory:")) as ledger:
        ledger.executescript(LEDGER_SCHEMA)
        ledger.execute("INSERT INTO lease VALUES (1, 'job/a', ?)", (machine.wall + LEASE_S,))
        for tick in range(45):
            machine.wall += jumps.get(tick, 0.0)
            known = watch.is_live(ledger, "job/a")
            assert watch.live_jobs(ledger) == ('["job/a"]' if known else "[]")
            if tick <= dies:
                assert known
                values = (machine.wall + LEASE_S,)
                ledger.execute("UPDATE lease SET expires_at = ?", values)
            elif tick > dies + BEATS + 1:
                assert not known
            machine.pass_by(TICK_S)
