"""Long work that outlives its process: what was asked, how far it is, and how it ended."""

from __future__ import annotations

import json
import re
import sqlite3
from collections.abc import Callable, Collection, Iterable
from dataclasses import replace
from functools import partial
from typing import Any, TypeAlias, get_args

from vr_kernel.errors import Code, VrError
from vr_kernel.jobs.lease import Lease, is_owner
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.ledger import complete, job_scope
from vr_kernel.jobs.rows import (
    COLUMNS,
    DAMAGED_JOB,
    OWNED,
    SHOWN,
    Ending,
    Job,
    JobState,
    progress,
    read_job,
)
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.principal_marks import MARK, mark_of

__all__ = ["Ending", "Job", "JobLedger", "JobState"]
_Jobs: TypeAlias = list[Job]


class JobLedger:
    """The jobs of a ledger. A principal cannot see the jobs of others: they count as unknown.

    Every method raises `VrError` UNAVAILABLE when the ledger cannot be read or written.

    Args:
        database: the ledger.
        leases: of the same ledger.
        owner: the principal of jobs without the name of a token.
    """

    def __init__(self, database: KeptDatabase, leases: LedgerLeases, owner: str = "") -> None:
        self._database = database
        self._owner = owner
        self._leases = leases

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

        Raises:
            VrError: INVALID_INPUT for an id that is not 32 hexadecimal digits.
        """
        _check_id(id)
        now = self._leases.clock()
        mark = mark_of(principal, self._owner)
        row = (id, mark, tool, workspace, version, json.dumps(arguments), now - age_s, now)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT INTO job (id, principal, tool, workspace, version, arguments,"
                " created_at, updated_at) VALUES (?,?,?,?,?,?,?,?) ON CONFLICT (id) DO NOTHING",
                row,
            )

        await self._database.run(write)

    async def begin(self, job_id: str) -> Lease | None:
        """Own a running job and count the run; None when it has ended or is owned already."""
        lease = await self._leases.acquire(job_scope(job_id))
        if lease is None:
            return None
        try:
            begun = await self._update(
                "runs = runs + 1 WHERE id = :id AND state = 'running' AND NOT cancel_asked",
                id=job_id,
            )
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
        found = await self._read(
            f"id = :id AND {MARK} = :of", id=job_id, of=mark_of(principal, self._owner)
        )
        if not found:
            raise VrError(
                f"There is no job {job_id}.",
                Code.NOT_FOUND,
                category="JOB_UNKNOWN",
                hint="job_list names the jobs that there are; old ones are removed.",
            )
        return found[0]

    async def list(
        self, principal: str, *, states: Collection[JobState] | None = None, limit: int = 50
    ) -> _Jobs:
        """A principal's jobs, newest first, of these states or of all."""
        wanted = ", ".join(f"'{state}'" for state in get_args(JobState) if state in (states or ()))
        among = "" if states is None else f" AND {SHOWN} IN ({wanted})"
        return await self._read(
            f"{MARK} = :of{among} ORDER BY created_at DESC, rowid DESC LIMIT :limit",
            of=mark_of(principal, self._owner),
            limit=limit,
        )

    async def report(
        self, job_id: str, done: float, total: float | None = None, message: str = ""
    ) -> None:
        """Record the progress of a running job; what is no number counts as unknown."""
        await self._update(
            "done = :done, total = :total, message = :message WHERE id = :id AND state = 'running'",
            id=job_id,
            **progress(done, total, message),
        )

    def under_way(self, job: Job, latest: tuple[float, float | None, str]) -> Job:
        """A running job with progress that its owner has reported but not yet written."""
        if job.state != "running":
            return job
        return replace(job, **progress(*latest), updated_at=self._leases.clock())

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
        values: dict[str, Any] = {
            "id": job_id,
            "state": state,
            "result": None if result is None else json.dumps(result),
            "error": None if error is None else json.dumps(error),
        }
        try:
            return lease.name == job_scope(job_id) and await complete(
                self._update(
                    "state = :state, result = :result, error = :error"
                    " WHERE id = :id AND state = 'running'",
                    allowed=partial(is_owner, lease=lease),
                    kept=True,
                    **values,
                )
            )
        finally:
            await self._leases.release(lease)

    async def ask_cancel(self, job_id: str, principal: str) -> Job:
        """Ask the owner of a job to stop; a job without an owner is cancelled at once.

        Raises:
            VrError: as `find`.
        """
        await self._update(
            f"cancel_asked = 1 WHERE id = :id AND {MARK} = :of AND state = 'running'",
            afterwards=self._settle,
            id=job_id,
            of=mark_of(principal, self._owner),
        )
        return await self.find(job_id, principal)

    async def cancel_asked(self, job_ids: Iterable[str]) -> set[str]:
        """Find the jobs among these that were asked to stop."""
        ids = list(job_ids)

        def read(connection: sqlite3.Connection) -> set[str]:
            query = "SELECT 1 FROM job WHERE id = ? AND cancel_asked"
            return {job_id for job_id in ids if connection.execute(query, (job_id,)).fetchone()}

        return await self._database.read(read)

    async def orphans(self, limit: int = 100) -> _Jobs:
        """Interrupted jobs of all principals, oldest first; `begin` decides who resumes one."""
        found = await self._read(
            f"{SHOWN} = 'interrupted' ORDER BY created_at, rowid LIMIT :limit", limit=limit
        )
        for job in found:
            if job.state == "failed":  # damaged: it cannot be resumed
                await self._update("state = 'failed' WHERE id = :id", id=job.id)
        return [job for job in found if job.state == "interrupted"]

    async def prune(self, older_than_s: float) -> int:
        """Remove jobs that ended that many seconds ago, with their steps; returns how many."""

        def delete(connection: sqlite3.Connection) -> int:
            self._settle(connection)
            old = "FROM job WHERE state <> 'running' AND updated_at < ?"
            before = (self._leases.clock() - older_than_s,)
            connection.execute(
                f"DELETE FROM step WHERE scope IN (SELECT 'job/' || id {old})",  # noqa: S608 - constant text
                before,
            )
            return connection.execute(f"DELETE {old}", before).rowcount

        return await self._database.run(delete)

    async def _read(self, where: str, **values: Any) -> _Jobs:
        def read(connection: sqlite3.Connection) -> _Jobs:
            now = self._now(connection)
            query = f"SELECT {COLUMNS} FROM job WHERE {where}"  # noqa: S608 - constant text
            rows = connection.execute(query, {**values, **now})
            found = [read_job(row, self._owner) for row in rows]
            for job in found:
                if job.error and job.error.get("category") == DAMAGED_JOB:
                    self._database.leave_out("job", job.id)
            return found

        return await self._database.look(read)

    async def _update(
        self,
        changes: str,
        *,
        allowed: Callable[[sqlite3.Connection], bool] = lambda _: True,
        afterwards: Callable[[sqlite3.Connection], None] = lambda _: None,
        kept: bool = False,
        **values: Any,
    ) -> bool:
        def write(connection: sqlite3.Connection) -> bool:
            now = {"now": self._leases.clock()}
            query = f"UPDATE job SET updated_at = :now, {changes}"  # noqa: S608 - constant text
            changed = (
                allowed(connection) and connection.execute(query, {**values, **now}).rowcount == 1
            )
            afterwards(connection)
            return changed

        return await (self._database.keep(write, True) if kept else self._database.run(write))

    def _settle(self, connection: sqlite3.Connection) -> None:
        """Cancel jobs that were asked to stop and have no owner any more."""
        connection.execute(
            "UPDATE job SET state = 'cancelled', updated_at = :now"  # noqa: S608 - constant text
            f" WHERE state = 'running' AND cancel_asked AND NOT {OWNED}",
            self._now(connection),
        )

    def _now(self, connection: sqlite3.Connection) -> dict[str, Any]:
        """The values besides its row that the state of a job depends on."""
        leases = self._leases
        live = leases.watch.live_jobs(connection)
        return {"now": leases.clock(), "lease_s": leases.lease_s, "live": live}


def _check_id(job_id: str) -> None:
    if not re.fullmatch("[0-9a-f]{32}", job_id):
        raise VrError(
            f"{job_id[:40]!r} is no job id.",
            Code.INVALID_INPUT,
            category="JOB_ID_INVALID",
            hint="A job id has 32 hexadecimal digits; job_list names the jobs that there are.",
        )
