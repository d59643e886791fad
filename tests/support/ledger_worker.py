"""A process that works on the jobs of a ledger, and can be killed at any moment.

Arguments: the folder, the length of a lease in seconds. Each step "pays" by a line in the file
`bill` before it returns; the process ends when the folder has a file `last` and nothing is left.
"""

from __future__ import annotations

import asyncio
import os
import random
import sys
import time
import uuid
from contextlib import closing
from pathlib import Path

from ledger_state import ledger_state
from vr_kernel.errors import VrError
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.state.jobs import job_scope
from vr_kernel.state.sqlite.ledger import open_ledger

STEPS = 50
PRINCIPAL = "worker"
LONGEST_STEP_S = 0.02
PAUSE_S = 0.05


def write_line(path: Path, *words: object) -> None:
    """One line in one write, so that lines of several processes never mix."""
    line = " ".join(map(str, words)) + "\n"
    file = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    os.write(file, line.encode())
    os.close(file)


async def do_job(folder: Path, job_id: str, jobs: JobLedger, steps: Steps) -> None:
    lease = await jobs.begin(job_id)
    if lease is None:
        return
    receipts = []
    for number in range(STEPS):

        async def pay(key: str = str(number)) -> str:
            await asyncio.sleep(random.random() * LONGEST_STEP_S)
            receipt = uuid.uuid4().hex
            write_line(folder / "bill", job_id, key, receipt, os.getpid(), time.time())
            await asyncio.sleep(random.random() * LONGEST_STEP_S / 4)
            return receipt

        try:
            receipts.append(await steps.run(job_scope(job_id), str(number), pay, lease=lease))
        except VrError as error:
            write_line(folder / "fenced", os.getpid(), error.category)
            await jobs.finish(job_id, lease, state="failed", error={})
            return
    if not await jobs.finish(job_id, lease, state="done", result={"receipts": receipts}):
        write_line(folder / "fenced", os.getpid(), "at the end")


async def main(folder: Path, lease_s: float) -> None:
    with closing(open_ledger(folder / "jobs.db")) as database:
        leases = LedgerLeases(ledger_state(database, lease_s=lease_s))
        jobs, steps = JobLedger(leases.state, leases), Steps(ledger_state(database))
        open_ones = await jobs.table.list(PRINCIPAL, states=["running", "interrupted"])
        while open_ones or not (folder / "last").exists():
            random.shuffle(open_ones)
            for job in open_ones:
                await do_job(folder, job.id, jobs, steps)
            await asyncio.sleep(PAUSE_S)
            open_ones = await jobs.table.list(PRINCIPAL, states=["running", "interrupted"])
        await leases.aclose()


if __name__ == "__main__":
    asyncio.run(main(Path(sys.argv[1]), float(sys.argv[2])))
