"""Jobs as clients see them: a handle while one goes on, its outcome once it has ended."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel

from vr_kernel.generation import Usage
from vr_kernel.jobs.jobs import Job, JobState
from vr_kernel.running.runner import Outcome
from vr_kernel.signatures.schemas import compact_output
from vr_kernel.text.visible_text import all_visible, result_text

MINUTE_S = 60


class JobProgress(BaseModel):
    """The progress of a job; `total` when it is known, `left_s` by the pace so far, in seconds."""

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
        """Make the handle of a job, as it is now."""
        # A tool need not report its last step.
        done = job.total if job.state == "done" and job.total is not None else job.done
        progress = JobProgress(
            done=done, total=job.total, message=job.message, left_s=_seconds_left(job)
        )
        return JobHandle(job_id=job.id, state=job.state, progress=progress)


def _seconds_left(job: Job) -> float | None:
    """Reckon by the pace so far; None for a job that stood still, for nobody knows how long."""
    if job.state != "running" or job.runs > 1 or not job.total or job.done <= 0:
        return None
    pace = max(0.0, job.updated_at - job.created_at) / job.done
    return round(max(0.0, job.total - job.done) * pace, 1)


def time_words(seconds: float) -> str:
    """Say a time that is left as a person would."""
    if seconds < MINUTE_S:
        return f"about {max(1, round(seconds))} s left"
    hours, minutes = divmod(round(seconds / MINUTE_S), 60)
    return f"about {hours} h {minutes} min left" if hours else f"about {minutes} min left"


def outcome_of(job: Job) -> Outcome:
    """Read what `ending_of` kept of a call that succeeded; its texts are visible."""
    kept = job.result or {}
    usage = Usage(**kept["usage"]) if kept.get("usage") else None
    data = all_visible(kept.get("result", {}), result_text)
    return Outcome(job.id, data=data, notes=tuple(kept.get("notes", ())), usage=usage)
