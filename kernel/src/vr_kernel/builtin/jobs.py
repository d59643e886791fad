"""`job_*`: calls that go on after their client was answered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any, get_args

from pydantic import BaseModel, Field

from vr_kernel.call import Call
from vr_kernel.running.job_handle import JobHandle
from vr_kernel.state.jobs import Ending, Job, JobState
from vr_kernel.tools import DESTRUCTIVE, IDEMPOTENT, READ_ONLY, tool

JobId = Annotated[str, Field(max_length=64)]


class JobInfo(JobHandle):
    """A job, as it is now; times in UTC."""

    tool: str
    created_at: datetime
    updated_at: datetime
    runs: int


class JobOutcome(JobHandle):
    """A job with its outcome: the tool's result, or its error, once it has ended."""

    tool: str
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    notes: list[str] = Field(default_factory=list)


class JobInfos(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobInfo]


@tool(effects=READ_ONLY | IDEMPOTENT)
async def job_status(call: Call, job_id: JobId) -> JobInfo:
    """Show how far a job is."""
    return _info(await call.services.jobs.find(job_id, call.principal))


@tool(effects=READ_ONLY | IDEMPOTENT)
async def job_result(
    call: Call,
    job_id: JobId,
    wait_s: Annotated[float, Field(ge=0, le=3600, description="Seconds to wait for the end")] = 30,
) -> JobOutcome:
    """Get a job's result, waiting for it; resumes a job that a crash interrupted."""

    def tell(job: Job) -> None:
        progress = JobHandle.of(job).progress
        call.progress(progress.done, progress.total, str(progress))

    job = await call.services.jobs.wait(job_id, call.principal, wait_s, tell)
    ended = job.result or {}
    return JobOutcome(
        **JobHandle.of(job).model_dump(),
        tool=job.tool,
        result=ended.get("result"),
        error=job.error,
        usage=ended.get("usage"),
        notes=ended.get("notes", []),
    )


@tool(effects=DESTRUCTIVE | IDEMPOTENT)
async def job_cancel(call: Call, job_id: JobId) -> JobInfo:
    """Cancel a job."""
    before = await call.services.jobs.find(job_id, call.principal)
    if before.state in get_args(Ending):
        call.note(f"The job had ended before ({before.state}); nothing was cancelled.")
    return _info(await call.services.jobs.cancel(job_id, call.principal))


@tool(effects=READ_ONLY | IDEMPOTENT)
async def job_list(
    call: Call,
    state: JobState | None = None,
    limit: Annotated[int, Field(ge=1, le=100)] = 20,
) -> JobInfos:
    """List jobs, newest first."""
    states = (state,) if state else ()
    jobs = await call.services.jobs.list(call.principal, states, limit)
    return JobInfos(jobs=[_info(job) for job in jobs])


def _info(job: Job) -> JobInfo:
    return JobInfo(
        **JobHandle.of(job).model_dump(),
        tool=job.tool,
        created_at=datetime.fromtimestamp(job.created_at, UTC),
        updated_at=datetime.fromtimestamp(job.updated_at, UTC),
        runs=job.runs,
    )
