"""Jobs as clients see them: a handle while one goes on, its outcome once it has ended."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Usage
from vr_kernel.running.job_errors import cancelled
from vr_kernel.running.runner import Outcome
from vr_kernel.signatures.schemas import compact_output
from vr_kernel.state.jobs import Job, JobState
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


def _error_of(fields: dict[str, Any]) -> VrError:
    return VrError(
        str(fields.get("message", "The job failed.")),
        Code(fields.get("code", Code.INTERNAL)),
        category=fields.get("category"),
        hint=str(fields.get("hint", "")),
        retryable=bool(fields.get("retryable")),
        retry_after=fields.get("retry_after_seconds"),
    )
