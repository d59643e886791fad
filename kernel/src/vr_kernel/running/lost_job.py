"""A long call that this process lost while it was suspended: its job may go on elsewhere."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.jobs.completion import complete
from vr_kernel.running.job_handle import outcome_of
from vr_kernel.running.runner import Outcome
from vr_kernel.running.running_job import RunningJob
from vr_kernel.state.jobs import Job

if TYPE_CHECKING:
    from vr_kernel.protocols.work import Jobs

ROUND_S = 2.0
"""Seconds to wait for the end at a time."""


async def followed(
    running: RunningJob, outcome: Outcome, work: Jobs, following: set[asyncio.Task[Any]]
) -> Outcome:
    """Wait for the end of a job in any process; it goes on here when no other took it over.

    Args:
        running: the call, which has not ended for those who wait for it.
        outcome: returned when the ledger cannot be read.
        work: the jobs of this process.
        following: this task is in this set meanwhile.
    """
    task = asyncio.current_task()
    assert task is not None
    while task.cancelling():  # only its work here was cancelled
        task.uncancel()
    following.add(task)

    def tell(job: Job) -> None:
        running.progress(job.done, job.total, job.message)

    before = None
    try:
        while True:
            job = await work.wait(running.id, running.principal, ROUND_S, tell)
            if job.state not in ("running", "interrupted"):
                return outcome_of(job, running.tool)
            if job.state == before == "interrupted":  # this process cannot resume it
                return outcome
            before = job.state
    except VrError:
        return outcome
    except asyncio.CancelledError:
        if running.cancelled:
            with suppress(VrError):
                await complete(work.cancel(running.id, running.principal))
        raise
    finally:
        following.discard(task)
