"""Jobs as clients see them: a handle while one goes on, then its outcome, and their errors."""

from __future__ import annotations

from typing import Any, TypedDict

from pydantic import BaseModel

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.running.runner import Outcome
from vr_kernel.signatures.schemas import compact_output
from vr_kernel.state.jobs import Ending, Job, JobState
from vr_kernel.text.visible_text import all_visible, result_text
from vr_kernel.tools import Tool

MINUTE_S = 60


class JobProgress(BaseModel):
    """The progress of a job; `total` when it is known, `left_s` in seconds, by the pace so far."""

    done: float
    total: float | None
    message: str
    left_s: float | None = None

    def __str__(self) -> str:
        """Say it in the job's own words, else in numbers, with the time left."""
        words = self.message
        if not words and self.total is not None:
            words = f"{self.done:g} of {self.total:g}"
        left = "" if self.left_s is None else time_words(self.left_s)
        return ", ".join(part for part in (words, left) if part)


class JobHandle(BaseModel):
    """The answer to a call that goes on as a job: ask job_result for the rest."""

    job_id: str
    state: JobState
    progress: JobProgress

    @classmethod
    def answer_schema(cls) -> dict[str, Any]:
        """The JSON schema of a handle as an answer of a tool."""
        return compact_output(cls.model_json_schema(mode="serialization"))

    @staticmethod
    def of(job: Job) -> JobHandle:
        """Make the handle of a job in its present state."""
        # A tool need not report its last step.
        done = job.total if job.state == "done" and job.total is not None else job.done
        progress = JobProgress(
            done=done, total=job.total, message=job.message, left_s=_seconds_left(job)
        )
        return JobHandle(job_id=job.id, state=job.state, progress=progress)


def _seconds_left(job: Job) -> float | None:
    """Estimate from the pace so far; None for a job that was interrupted for an unknown time."""
    if job.state != "running" or job.runs > 1 or not job.total or job.done <= 0:
        return None
    pace = max(0.0, job.updated_at - job.created_at) / job.done
    return round(max(0.0, job.total - job.done) * pace, 1)


def time_words(seconds: float) -> str:
    """Describe the remaining time as a person would."""
    if seconds < MINUTE_S:
        return f"about {max(1, round(seconds))} s left"
    hours, minutes = divmod(round(seconds / MINUTE_S), 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"


def outcome_of(job: Job, tool: Tool | None = None) -> Outcome:
    """Read how a job ended, as the outcome of the call that began it.

    Args:
        job: one that has ended; hidden characters in its texts are made visible.
        tool: the tool that was called; without it the outcome has the JSON of the result alone.
    """
    if job.state == "cancelled":
        return Outcome(job.id, error=cancelled(job.id))
    if job.result is None:
        return Outcome(job.id, error=_error_of(job.error or {}))
    data, usage = all_visible(job.result.get("result", {}), result_text), job.result.get("usage")
    return Outcome(
        job.id,
        None if tool is None else tool.result.model_validate(data),
        data,
        notes=tuple(job.result.get("notes", ())),
        usage=Usage.model_validate(usage) if usage else None,
    )


class Ended(TypedDict):
    """The end of a call in the form that the ledger keeps."""

    state: Ending
    result: dict[str, Any] | None
    error: dict[str, Any] | None


def ending_of(outcome: Outcome) -> Ended:
    """Return the end of a job in the form that job_result reports."""
    if outcome.error is not None:
        return Ended(state="failed", result=None, error=outcome.error.as_dict(outcome.call_id))
    usage = outcome.usage.model_dump() if outcome.usage else None
    result = {"result": outcome.data, "notes": list(outcome.notes), "usage": usage}
    return Ended(state="done", result=result, error=None)


def _error_of(fields: dict[str, Any]) -> VrError:
    return VrError(
        str(fields.get("message", "The job failed.")),
        Code(fields.get("code", Code.INTERNAL)),
        category=fields.get("category"),
        hint=str(fields.get("hint", "")),
        retryable=bool(fields.get("retryable")),
        retry_after=fields.get("retry_after_seconds"),
    )


def taken_over(job_id: str) -> VrError:
    """The error of work that another process took over."""
    return VrError(
        f"Another process took over job {job_id}.",
        Code.CONFLICT,
        category="LEASE_LOST",
        hint="Use job_result to wait for its outcome.",
        retryable=True,
    )


def cancelled(job_id: str) -> VrError:
    """The error of work that was cancelled by its id."""
    return VrError(f"Job {job_id} was cancelled.", Code.CANCELLED, hint="Call the tool again.")


def id_used(call_id: str) -> VrError:
    """The error of a caller's id that another call has."""
    return VrError(
        f"The call id {call_id} belongs to another call.",
        Code.CONFLICT,
        category="CALL_ID_USED",
        hint="Give each call an id of its own; the same one only for the same call once more.",
    )


def given_up(runs: int) -> VrError:
    """The error of a job whose processes died repeatedly."""
    return VrError(
        f"The job was interrupted {runs} times without getting any further.",
        Code.INTERNAL,
        category="JOB_INTERRUPTED",
        hint="Its process died each time. The log may say why; call the tool again.",
    )
