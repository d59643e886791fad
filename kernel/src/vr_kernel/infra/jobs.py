"""`job_*`: calls that go on after their client was answered."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Annotated, Any

from pydantic import BaseModel, Field

from vr_kernel.call import Call
from vr_kernel.jobs import Job, JobState
from vr_kernel.long_call import JobHandle, handle_of
from vr_kernel.tools import DESTRUCTIVE, IDEMPOTENT, READ_ONLY, tool

JobId = Annotated[str, Field(max_length=64)]


class JobInfo(JobHandle):
    """A job, as it is now; times in UTC."""

    tool: str
    created_at: datetime
    updated_at: datetime
    runs: int


class JobOutcome(JobHandle):
    """A job with what it came to: the tool's result, or its error, once it has ended."""

    tool: str
    result: dict[str, Any] | None = None
    error: dict[str, Any] | None = None
    usage: dict[str, Any] | None = None
    notes: list[str] = Field(default_factory=list)


class JobInfos(BaseModel):
    """Jobs, the newest first."""

    jobs: list[JobInfo]


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="how far is it; is it done yet; how much longer will it take; is it still running;"
    " progress in percent; is it stuck or frozen, or does it move; any news on what I started;"
    " has it failed; state of a job; check on it; when will it be ready; where does job 4711"
    " stand; is it half way through; will it be finished soon; is it alive; is it still"
    " processing; how many files are done; has the download finished; what step is it at; tell"
    " me quickly without waiting; remaining time; does the analysis make progress; how many of"
    " the videos are through; at which minute of the recording is it now; any progress; does it"
    " hang; is the batch complete; when can I expect it; a quick look at how it goes; did it"
    " crash; is my transcription ready; percent complete; ETA; still busy; how much is left;"
    " state of the batch",
)
async def job_status(call: Call, job_id: JobId) -> JobInfo:
    """Show how far a job is."""
    return _info(await call.services.jobs.find(job_id, call.principal))


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="what came out of it; give me the result of the job; wait until it is finished and show"
    " the outcome; the answer of the long call I began earlier; it is done, let me see; collect"
    " the output; continue after a crash or restart; resume what was interrupted; carry on where"
    " it broke off; why did the job fail; it should be ready by now, bring it; what did the work"
    " in the background find; my computer died in the middle, go on with it; return when it is"
    " complete; show me what the finished job found; wait for the transcription and give it to"
    " me; the laptop restarted, carry on; get the outcome; what became of the analysis I"
    " started; hand over the finished summary; tell me when it is done and what it says; pick up"
    " the interrupted run; what did last night's run find; deliver the transcript when it is"
    " there; get the outcome by its id; the power went off during the analysis, finish it; block"
    " until it has ended; why was it not successful, show the error; fetch what you produced in"
    " the background; show me the result again; you said it would take a while, may I see it"
    " now; the number of the job was 5512, show the summary; what happened to my long request;"
    " outcome of run 33; the finished output; after the blackout, continue the batch; may I have"
    " the answer now",
)
async def job_result(
    call: Call,
    job_id: JobId,
    wait_s: Annotated[float, Field(ge=0, le=3600, description="Seconds to wait for the end")] = 30,
) -> JobOutcome:
    """Get a job's result, waiting for it; resumes a job that a crash interrupted."""
    job = await call.services.jobs.wait(job_id, call.principal, wait_s)
    ended = job.result or {}
    return JobOutcome(
        **handle_of(job).model_dump(),
        tool=job.tool,
        result=ended.get("result"),
        error=job.error,
        usage=ended.get("usage"),
        notes=ended.get("notes", []),
    )


@tool(
    effects=DESTRUCTIVE | IDEMPOTENT,
    words="stop it; cancel the analysis that is running; abort; kill the job; I changed my mind; I"
    " do not need it any more; that was the wrong file, end it; it takes too long, give up; call"
    " it off; break off what runs in the background; started by accident, do not go on; forget"
    " about what I asked for; terminate it; leave it, somebody else has done it; end the run"
    " before it costs more; never mind; do not finish it; halt the transcription; quit that"
    " task; I gave you the wrong link, stop; please interrupt what you are doing; do not"
    " continue with the batch; abandon the export; I will not need the result; stop wasting"
    " money on that; kill whatever is still running; drop the second task; please quit; cancel"
    " my last request; scrap it; interrupt the processing; no need to go on; pull the plug on"
    " the batch",
)
async def job_cancel(call: Call, job_id: JobId) -> JobInfo:
    """Cancel a job."""
    return _info(await call.services.jobs.cancel(job_id, call.principal))


@tool(
    effects=READ_ONLY | IDEMPOTENT,
    words="which jobs are there; what is running in the background; everything in progress at the"
    " moment; I forgot the id of my job; recent jobs; jobs that failed; what did I start today;"
    " history of long calls; what is in the queue; all my tasks; which of my analyses went"
    " wrong; what are you working on; which of them are unfinished; overview of long runs; what"
    " did I launch an hour ago; show all running tasks; which ones failed yesterday; what is"
    " still open; everything that I started this week; is anything running at all; the jobs of"
    " last night; how many analyses are waiting; do I have anything waiting; which runs were"
    " cancelled; what did you do overnight; list the finished ones; latest ten tasks; what is"
    " going on right now; show failed jobs of this week; find the run from this morning; which"
    " tasks did I begin on Friday; did anything crash while I was away; how many runs are there;"
    " what have you still got to do; active processes; unfinished business; queue of tasks; what"
    " have I set going; past runs and how they ended",
)
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
        **handle_of(job).model_dump(),
        tool=job.tool,
        created_at=datetime.fromtimestamp(job.created_at, UTC),
        updated_at=datetime.fromtimestamp(job.updated_at, UTC),
        runs=job.runs,
    )
