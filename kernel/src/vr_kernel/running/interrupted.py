"""Jobs that can go on here: their tools are served, and they are not interrupted for ever."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.running.running_job import run_mark
from vr_kernel.state.jobs import job_scope

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.jobs.steps import Steps
    from vr_kernel.state.jobs import Job
    from vr_kernel.tools import Tool

Serve = Callable[[str], Awaitable[tuple["Tool", "Context"]]]
"""Finds the tool of a name that can be called now, and the services of its plugin."""


async def served_for(job: Job, serve: Serve) -> tuple[Tool, Context] | None:
    """Return the tool of a job, and its services for the principal that began it, if it has any."""
    try:
        tool, context = await serve(job.tool)
        context = context.of_principal(job.principal)
    except VrError:  # unknown or broken; a damaged name, or one of another configuration
        return None
    return (tool, context) if context.workspace == job.workspace else None


async def refusal(tool: Tool, serve: Serve) -> VrError | None:
    """Return the error of a tool whose plugin cannot work; None when it can be called."""
    try:
        await serve(tool.name)
    except VrError as error:
        return error
    return None


async def is_hopeless(job: Job, steps: Steps, most_runs: int) -> bool:
    """Say if a job was interrupted that often in a row without a payment in between."""
    runs = range(job.runs, max(0, job.runs - most_runs), -1)
    marks = [await steps.find(job_scope(job.id), run_mark(run)) for run in runs]
    return len(marks) == most_runs and not any(marks)
