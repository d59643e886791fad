"""Jobs in a SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Iterable
from functools import partial
from typing import TYPE_CHECKING, Any, get_args

from vr_kernel.state.jobs import DAMAGED_JOB, Job, JobList, JobState, progress
from vr_kernel.state.sqlite.job_rows import COLUMNS, OWNED, SHOWN, read_job
from vr_kernel.state.sqlite.leases import SqliteLeases
from vr_kernel.state.sqlite.liveness import owns
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.principal_marks import MARK, mark_of

if TYPE_CHECKING:
    from vr_kernel.state.call_end import JobEnd


class SqliteJobs:
    """The jobs in the ledger; see `JobTable`.

    Args:
        database: the ledger.
        leases: in the same ledger.
        owner: the principal of jobs without the name of a token.
    """

    def __init__(self, database: KeptDatabase, leases: SqliteLeases, owner: str = "") -> None:
        self._database = database
        self._leases = leases
        self._owner = owner

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
        """Add a job, in state `running` but not begun yet; no effect when it exists."""
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

    async def begin(self, job_id: str) -> bool:
        """Count a run; False when the job has ended or was asked to stop."""
        return await self._update(
            "runs = runs + 1 WHERE id = :id AND state = 'running' AND NOT cancel_asked",
            id=job_id,
        )

    async def find(self, job_id: str, principal: str) -> Job | None:
        """The job of that id."""
        found = await self._read(
            f"id = :id AND {MARK} = :of", id=job_id, of=mark_of(principal, self._owner)
        )
        return found[0] if found else None

    async def list(
        self, principal: str, states: Collection[JobState] | None = None, limit: int = 50
    ) -> JobList:
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

    async def finish(self, end: JobEnd) -> bool:
        """End a running job, as long as the lease of that token is there; False otherwise."""
        return await self._update(
            "state = :state, result = :result, error = :error WHERE id = :id AND state = 'running'",
            allowed=partial(owns, token=end.token),
            kept=True,
            id=end.id,
            state=end.state,
            result=None if end.result is None else json.dumps(end.result),
            error=None if end.error is None else json.dumps(end.error),
        )

    async def ask_cancel(self, job_id: str, principal: str) -> None:
        """Ask the owner of a job to stop; a job without an owner is cancelled at once."""
        await self._update(
            f"cancel_asked = 1 WHERE id = :id AND {MARK} = :of AND state = 'running'",
            afterwards=self._settle,
            id=job_id,
            of=mark_of(principal, self._owner),
        )

    async def cancel_asked(self, job_ids: Iterable[str]) -> set[str]:
        """Find the jobs among these that were asked to stop."""
        ids = list(job_ids)

        def read(connection: sqlite3.Connection) -> set[str]:
            query = "SELECT 1 FROM job WHERE id = ? AND cancel_asked"
            return {job_id for job_id in ids if connection.execute(query, (job_id,)).fetchone()}

        return await self._database.read(read)

    async def orphans(self, limit: int = 100) -> JobList:
        """Interrupted jobs of all principals, oldest first."""
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

    async def _read(self, where: str, **values: Any) -> JobList:
        def read(connection: sqlite3.Connection) -> JobList:
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
