"""Jobs of processes that are killed or stopped: every job ends, no committed step is paid again."""

from __future__ import annotations

import asyncio
import os
import random
import signal
import sqlite3
import subprocess
import sys
import uuid
from collections import Counter, defaultdict
from collections.abc import AsyncIterator
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import ledger_worker
import pytest
from ledger_state import ledger_state
from ledger_worker import PRINCIPAL, STEPS
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.jobs import job_scope
from vr_kernel.state.sqlite.ledger import open_ledger
from waiting import until

pytestmark = [
    pytest.mark.slow,
    pytest.mark.timeout(280),
    pytest.mark.skipif(os.name == "nt", reason="SIGKILL and SIGSTOP are POSIX"),
]
KILLS = 40
LEASE_S = 1.0
OPEN_JOBS = 4


class Payment(NamedTuple):
    job: str
    key: str
    receipt: str
    pid: int
    at: float


class Work:
    """A folder with a ledger, and the processes that work there."""

    def __init__(self, folder: Path, jobs: JobLedger) -> None:
        self.folder = folder
        self.jobs = jobs
        self.ids: list[str] = []
        self.started: list[subprocess.Popen[bytes]] = []

    def start(self) -> subprocess.Popen[bytes]:
        worker = subprocess.Popen(
            [sys.executable, ledger_worker.__file__, str(self.folder), str(LEASE_S)]
        )
        self.started.append(worker)
        return worker

    async def add_job(self) -> str:
        self.ids.append(uuid.uuid4().hex)
        await self.jobs.table.create(
            id=self.ids[-1], tool="t_x", arguments={}, principal=PRINCIPAL, workspace="default"
        )
        return self.ids[-1]

    async def open_jobs(self) -> int:
        return len(await self.jobs.table.list(PRINCIPAL, states=["running", "interrupted"]))

    async def stop_between_writes(self, worker: subprocess.Popen[bytes]) -> None:
        """Stop a worker that holds no lock: a file that is locked for good serves nobody."""

        def is_stopped() -> bool:
            worker.send_signal(signal.SIGSTOP)
            with closing(sqlite3.connect(self.folder / "jobs.db", timeout=0.2)) as connection:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError:
                    worker.send_signal(signal.SIGCONT)
                    return False
            return True

        await until(is_stopped)

    async def end(self) -> None:
        """Wait until all jobs are done and all workers that live have left by themselves."""
        (self.folder / "last").touch()
        await until(lambda: all(worker.poll() is not None for worker in self.started), within=120)
        assert await self.open_jobs() == 0

    def bill(self) -> list[Payment]:
        path = self.folder / "bill"
        lines = path.read_text().splitlines() if path.exists() else []
        rows = [line.split() for line in lines]
        return [
            Payment(job, key, receipt, int(pid), float(at)) for job, key, receipt, pid, at in rows
        ]

    def fenced(self) -> list[int]:
        path = self.folder / "fenced"
        lines = path.read_text().splitlines() if path.exists() else []
        return [int(line.split()[0]) for line in lines]

    def committed(self) -> dict[tuple[str, str], float]:
        with closing(sqlite3.connect(self.folder / "jobs.db")) as connection:
            assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
            rows = connection.execute("SELECT scope, key, committed_at FROM step").fetchall()
        return {(scope, key): at for scope, key, at in rows}

    async def check_results(self) -> None:
        """Every job is done, with receipts of its own steps in order, all of them paid."""
        paid = {payment.receipt: payment for payment in self.bill()}
        for job_id in self.ids:
            job = await self.jobs.find(job_id, PRINCIPAL)
            assert job.state == "done"
            found = [paid[receipt] for receipt in job.result["receipts"]]
            assert [(it.job, it.key) for it in found] == [(job_id, str(n)) for n in range(STEPS)]


@pytest.fixture
async def work(tmp_path: Path) -> AsyncIterator[Work]:
    with closing(open_ledger(tmp_path / "jobs.db")) as database:
        leases = LedgerLeases(ledger_state(database, lease_s=LEASE_S))
        work = Work(tmp_path, JobLedger(leases.state, leases))
        yield work
        for worker in work.started:
            worker.kill()
            worker.wait()
        await leases.aclose()


async def test_no_kill_loses_a_job_or_repeats_a_committed_step(work: Work) -> None:
    chance = random.Random(7)
    workers = [work.start(), work.start()]
    kills = 0
    while kills < KILLS:
        while await work.open_jobs() < OPEN_JOBS:
            await work.add_job()
        paid, wait_for = len(work.bill()), chance.randrange(1, 40)
        await until(lambda: len(work.bill()) >= paid + wait_for)  # noqa: B023 - awaited here
        await asyncio.sleep(chance.random() * 0.02)  # the moment within a step is chance, too
        victim = chance.randrange(2)
        workers[victim].send_signal(signal.SIGKILL)
        workers[victim].wait()
        workers[victim] = work.start()
        kills += 1
    await work.end()
    await work.check_results()
    bill, committed, fenced = work.bill(), work.committed(), work.fenced()
    assert set(committed) == {(job_scope(it), str(n)) for it in work.ids for n in range(STEPS)}
    repeated = [it.pid for it in bill if it.at > committed[job_scope(it.job), it.key]]
    # Only who stood still longer than a lease may have paid what another committed meanwhile.
    assert Counter(repeated) <= Counter(fenced)
    assert len(bill) - len(committed) <= kills + len(fenced)


async def test_an_owner_that_stood_still_is_fenced(work: Work) -> None:
    job_id = await work.add_job()
    stopped = work.start()
    await until(lambda: len(work.bill()) >= 5)
    await work.stop_between_writes(stopped)
    other = work.start()

    def paid_by(pid: int) -> list[Payment]:
        return [payment for payment in work.bill() if payment.pid == pid]

    await until(lambda: len(paid_by(other.pid)) >= 5)
    before = len(paid_by(stopped.pid))
    stopped.send_signal(signal.SIGCONT)
    await work.end()
    await work.check_results()
    assert stopped.returncode == other.returncode == 0
    assert work.fenced() == [stopped.pid]
    assert len(paid_by(stopped.pid)) <= before + 1
    assert (await work.jobs.find(job_id, PRINCIPAL)).runs == 2
    twice = defaultdict(int)
    for payment in work.bill():
        twice[payment.key] += 1
    assert sorted(twice.values(), reverse=True)[:3] in ([1, 1, 1], [2, 1, 1])
