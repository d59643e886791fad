"""Jobs: long calls that outlive their process, and the table that keeps them."""

from __future__ import annotations

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal, Protocol, TypeAlias

if TYPE_CHECKING:
    from vr_kernel.state.call_end import JobEnd

JobState = Literal["running", "interrupted", "done", "failed", "cancelled"]
"""`interrupted` is running without a live lease: its process died, and another can resume it."""
Ending = Literal["done", "failed", "cancelled"]


@dataclass(frozen=True, slots=True)
class Job:
    """One long call. Times in seconds since the epoch; `done` of `total` in the tool's units.

    `runs` counts the processes that began it; `version` is that of the tool's steps; `error`
    has the fields of `VrError.as_dict`.
    """

    id: str
    tool: str
    arguments: dict[str, Any]
    principal: str
    workspace: str
    state: JobState
    done: float
    total: float | None
    message: str
    runs: int
    version: str
    result: dict[str, Any] | None
    error: dict[str, Any] | None
    created_at: float
    updated_at: float


DAMAGED_JOB = "JOB_DAMAGED"
"""Category of the error of a job whose row is damaged."""
JobList: TypeAlias = list[Job]


class JobTable(Protocol):
    """The jobs of all principals. A job of another principal counts as missing.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.
    """

    async def create(
        self,
        *,
        id: str,  # noqa: A002 - the name of the field
        tool: str,
        arguments: dict[str, Any],
        principal: str,
        workspace: str,
        version: str = "",
        age_s: float = 0.0,
    ) -> None:
        """Add a job, in state `running` but not begun yet; no effect when it exists.

        Args:
            id: 32 hexadecimal digits.
            tool: its name.
            arguments: of the call, as JSON values.
            principal: who calls.
            workspace: where its records go.
            version: of the tool's steps.
            age_s: how long ago the work was begun.
        """

    async def begin(self, job_id: str) -> bool:
        """Count a run; False when the job has ended or was asked to stop."""

    async def find(self, job_id: str, principal: str) -> Job | None:
        """The job of that id."""

    async def list(
        self, principal: str, states: Collection[JobState] | None = None, limit: int = 50
    ) -> JobList:
        """A principal's jobs, newest first, of these states or of all."""

    async def report(
        self, job_id: str, done: float, total: float | None = None, message: str = ""
    ) -> None:
        """Record the progress of a running job; what is no number counts as unknown."""

    async def finish(self, end: JobEnd) -> bool:
        """End a running job, as long as the lease of that token is there; False otherwise."""

    async def ask_cancel(self, job_id: str, principal: str) -> None:
        """Ask the owner of a job to stop; a job without an owner is cancelled at once."""

    async def cancel_asked(self, job_ids: Iterable[str]) -> set[str]:
        """Find the jobs among these that were asked to stop."""

    async def orphans(self, limit: int = 100) -> JobList:
        """Interrupted jobs of all principals, oldest first."""

    async def prune(self, older_than_s: float) -> int:
        """Remove jobs that ended that many seconds ago, with their steps; returns how many."""


def job_scope(job_id: str) -> str:
    """The name of a job's lease, and the scope of its steps."""
    return f"job/{job_id}"


def progress(done: float, total: float | None, message: str) -> dict[str, Any]:
    """The fields for a job's progress; what is no number counts as unknown."""
    return {
        "done": done if math.isfinite(done) else 0.0,
        "total": total if total is None or math.isfinite(total) else None,
        "message": message.encode("utf-8", "replace").decode(),
    }
