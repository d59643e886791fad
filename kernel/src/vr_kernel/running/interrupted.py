"""Interrupted jobs: which of them can go on here, and how."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.events import Trace
from vr_kernel.progress import silent
from vr_kernel.running.job_handle import given_up
from vr_kernel.running.running_job import TRACE, RunningJob, run_mark
from vr_kernel.state.jobs import job_scope

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.jobs.jobs import JobLedger
    from vr_kernel.jobs.steps import Steps
    from vr_kernel.state.jobs import Job
    from vr_kernel.tools import Tool

Serve = Callable[[str], Awaitable[tuple["Tool", "Context"]]]
"""Finds the tool of a name that can be called now, and the services of its plugin."""


async def take_up(
    job: Job, serve: Serve, jobs: JobLedger, steps: Steps, most_runs: int
) -> tuple[RunningJob, Context] | None:
    """Own an interrupted job; None when another process owns it, or it cannot go on here.

    A job that was interrupted too often is ended as failed.
    """
    served = await _served(job, serve)
    if served is None:
        return None
    hopeless = await _is_hopeless(job, steps, most_runs)
    lease = await jobs.begin(job.id)
    if lease is None:
        return None
    if hopeless:
        error = given_up(most_runs).as_dict(job.id)
        await jobs.finish(job.id, lease, error=error, state="failed")
        return None
    tool, context = served
    running = RunningJob(
        id=job.id,
        tool=tool,
        arguments=job.arguments,
        principal=job.principal,
        workspace=job.workspace,
        jobs=jobs,
        report=silent,
        lease=lease,
        run=job.runs + 1,
        trace=await _trace(job, steps),
    )
    return running, context


async def _trace(job: Job, steps: Steps) -> Trace:
    """Return the trace of the job's first run, which is kept while a plugin listens."""
    kept = await steps.find(job_scope(job.id), TRACE)
    try:
        return Trace(**kept) if kept else Trace(root=job.id)
    except TypeError:  # of another version
        return Trace(root=job.id)


async def _served(job: Job, serve: Serve) -> tuple[Tool, Context] | None:
    """Return the tool of a job, and its services for the principal that began it, if it has any."""
    try:
        tool, context = await serve(job.tool)
        context = context.of_principal(job.principal)
    except VrError:  # unknown or broken; a damaged name, or one of another configuration
        return None
    return (tool, context) if context.workspace == job.workspace else None


async def _is_hopeless(job: Job, steps: Steps, most_runs: int) -> bool:
    """Say if a job was interrupted that often in a row without a payment in between."""
    runs = range(job.runs, max(0, job.runs - most_runs), -1)
    marks = [await steps.find(job_scope(job.id), run_mark(run)) for run in runs]
    return len(marks) == most_runs and not any(marks)
