"""Long work that outlives its process: what was asked, how far it is, and how it ended."""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError
from vr_kernel.jobs.completion import complete
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state.jobs import Ending, Job, JobTable, job_scope, progress

if TYPE_CHECKING:
    from vr_kernel.state.protocols import State


class JobLedger:
    """The jobs of all principals, each owned by a lease while it runs.

    One cannot see the jobs of others: they count as unknown.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.

    Args:
        state: keeps the jobs.
        leases: of this process, in the same state.
    """

    def __init__(self, state: State, leases: LedgerLeases) -> None:
        self._state = state
        self._leases = leases

    @property
    def table(self) -> JobTable:
        """The jobs as they are kept; opened at first use."""
        return self._state.jobs

    async def begin(self, job_id: str) -> Lease | None:
        """Own a running job and count the run; None when it has ended or is owned already."""
        lease = await self._leases.acquire(job_scope(job_id))
        if lease is None:
            return None
        try:
            begun = await self.table.begin(job_id)
        except BaseException:
            await self._leases.release(lease)
            raise
        if not begun:
            await self._leases.release(lease)
        return lease if begun else None

    async def find(self, job_id: str, principal: str) -> Job:
        """The job of that id.

        Raises:
            VrError: INVALID_INPUT for a malformed id; NOT_FOUND, category JOB_UNKNOWN, when
                there is none of this principal.
        """
        _check_id(job_id)
        found = await self.table.find(job_id, principal)
        if found is None:
            raise VrError(
                f"There is no job {job_id}.",
                Code.NOT_FOUND,
                category="JOB_UNKNOWN",
                hint="job_list names the jobs that there are; old ones are removed.",
            )
        return found

    def under_way(self, job: Job, latest: tuple[float, float | None, str]) -> Job:
        """A running job with progress that its owner has reported but not yet written."""
        if job.state != "running":
            return job
        return replace(job, **progress(*latest), updated_at=self._leases.now())

    async def finish(
        self,
        job_id: str,
        lease: Lease,
        *,
        result: dict[str, Any] | None = None,
        error: dict[str, Any] | None = None,
        state: Ending,
    ) -> bool:
        """End a job as its owner and release the lease; False when another process took it over."""
        from vr_kernel.state.call_end import CallEnd, JobEnd

        if lease.name != job_scope(job_id):
            await self._leases.release(lease)
            return False
        end = JobEnd(job_id, lease.token, state, result, error)
        try:
            done = await complete(self._state.finish(CallEnd(job=end, leases=[lease.token])))
        except BaseException:
            await self._leases.release(lease)
            raise
        self._leases.forget([lease], done.unreleased)
        return done.owned

    async def ask_cancel(self, job_id: str, principal: str) -> Job:
        """Ask the owner of a job to stop; a job without an owner is cancelled at once.

        Raises:
            VrError: as `find`.
        """
        await self.table.ask_cancel(job_id, principal)
        return await self.find(job_id, principal)


def _check_id(job_id: str) -> None:
    if not re.fullmatch("[0-9a-f]{32}", job_id):
        raise VrError(
            f"{job_id[:40]!r} is no job id.",
            Code.INVALID_INPUT,
            category="JOB_ID_INVALID",
            hint="A job id has 32 hexadecimal digits; job_list names the jobs that there are.",
        )
