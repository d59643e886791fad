"""Calls with an id of their caller's: the same id finds the call again."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.jobs.completion import complete
from vr_kernel.running.job_handle import outcome_of, taken_over
from vr_kernel.running.lost_job import followed
from vr_kernel.running.runner import Outcome
from vr_kernel.storage.database_faults import is_of_state

if TYPE_CHECKING:
    from vr_kernel.protocols.work import Jobs
    from vr_kernel.running.running_job import RunningJob


async def found(
    running: RunningJob, work: Jobs, following: set[asyncio.Task[Any]]
) -> Outcome | None:
    """Return how the call of this id ended, here or elsewhere; None when it is to run now.

    Where the ledger cannot be written, it returns an ended call all the same, and refuses others:
    without the ledger nothing tells whether the call was paid for before.

    Args:
        running: the call.
        work: the jobs of this process.
        following: this task is in this set meanwhile.
    """
    task = asyncio.current_task()
    assert task is not None
    following.add(task)
    try:
        if await running.claim() is None:
            return None
    except VrError as error:
        ended = await _read_end(running) if is_of_state(error) else None
        return ended or Outcome(running.id, error=error)
    except asyncio.CancelledError:
        if running.cancelled and running.elsewhere is not None:
            with suppress(VrError):
                await complete(work.cancel(running.id, running.principal))
        raise
    finally:
        following.discard(task)
    return await followed(
        running, Outcome(running.id, error=taken_over(running.id)), work, following
    )


async def _read_end(running: RunningJob) -> Outcome | None:
    """The end of the call of this id, from a ledger that cannot be written."""
    with suppress(VrError):
        job = await running.known()
        if job.state not in ("running", "interrupted"):
            return outcome_of(job, running.tool)
    return None
