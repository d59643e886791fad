"""Leases, jobs and steps in the memory of one process."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass, replace
from itertools import count
from typing import Any

from vr_kernel.state.call_end import JobEnd
from vr_kernel.state.jobs import Job, JobList, JobState, job_scope, progress


@dataclass(slots=True)
class _Held:
    token: int
    ends_at: float


class MemoryLeases:
    """The owners of names; see `vr_kernel.state.leases.LeaseTable`."""

    def __init__(self, steps: MemorySteps, lease_s: float, clock: Callable[[], float]) -> None:
        """`clock` gives seconds since the epoch, and is steady as well."""
        self.lease_s = lease_s
        self.clock = self.steady = clock
        self._steps = steps
        self._tokens = count(1)
        self._held: dict[str, _Held] = {}

    async def take(self, name: str, returned: Collection[int] = ()) -> tuple[int, float] | None:
        """Own a name: its token and the end of its term; None while it is owned."""
        await self.release(returned)
        if await self.is_owned(name):
            return None
        held = self._held[name] = _Held(next(self._tokens), self.clock() + self.lease_s)
        return held.token, held.ends_at

    async def is_owned(self, name: str) -> bool:
        """Check if somebody owns a name."""
        return name in self._held and self.clock() < self._held[name].ends_at

    async def renew(self, tokens: Collection[int]) -> tuple[set[int], float]:
        """Begin a new term of leases: the tokens that are still there, and the end of the term."""
        ends_at = self.clock() + self.lease_s
        there = [held for held in self._held.values() if held.token in tokens]
        for held in there:
            held.ends_at = ends_at
        return {held.token for held in there}, ends_at

    async def release(self, tokens: Collection[int], scope: str = "") -> None:
        """Give leases back; with `scope`, the steps of a finished work are removed as well."""
        if scope and any(self.owns(token) for token in tokens):
            await self._steps.forget(scope)
        self._held = {name: held for name, held in self._held.items() if held.token not in tokens}

    def owns(self, token: int | None) -> bool:
        """True without a token, and while the lease of that token is there."""
        return token is None or any(held.token == token for held in self._held.values())


class MemorySteps:
    """Replies that were paid for; see `vr_kernel.state.steps.StepTable`."""

    def __init__(self, clock: Callable[[], float]) -> None:
        self._clock = clock
        self._kept: dict[tuple[str, str, str], tuple[float, str]] = {}
        self.leases: MemoryLeases
        self.jobs: MemoryJobs

    async def find(self, scope: str, key: str, version: str) -> tuple[Any] | None:
        """The committed reply; None when there is none."""
        kept = self._kept.get((scope, key, version))
        return (json.loads(kept[1]),) if kept else None

    async def owns(self, token: int | None) -> bool:
        """Check that the lease of that token is there."""
        return self.leases.owns(token)

    async def commit(
        self, scope: str, key: str, version: str, reply: Any, token: int | None
    ) -> tuple[Any, bool]:
        """Keep a reply; returns the valid one, the first, and what `owns` would return."""
        made = (self._clock(), json.dumps(reply))
        _, text = self._kept.setdefault((scope, key, version), made)
        return json.loads(text), self.leases.owns(token)

    async def forget(self, scope: str) -> None:
        """Remove all replies of a piece of work."""
        self._keep(lambda place, _: place[0] != scope)

    async def drop(self, scope: str, keys: Sequence[str], version: str) -> None:
        """Remove single replies."""
        gone = {(scope, key, version) for key in keys}
        self._keep(lambda place, _: place not in gone)

    async def prune(self, older_than_s: float) -> int:
        """Remove replies older than that many seconds, but for those of jobs; returns how many."""
        before, end = len(self._kept), self._clock() - older_than_s
        jobs = {job_scope(job_id) for job_id in self.jobs.kept}
        self._keep(lambda place, made_at: made_at >= end or place[0] in jobs)
        return before - len(self._kept)

    def _keep(self, wanted: Callable[[tuple[str, str, str], float], bool]) -> None:
        self._kept = {k: it for k, it in self._kept.items() if wanted(k, it[0])}


class MemoryJobs:
    """Long calls; see `vr_kernel.state.jobs.JobTable`."""

    def __init__(self, leases: MemoryLeases, steps: MemorySteps) -> None:
        self._leases = leases
        self._steps = steps
        self._asked: set[str] = set()
        self.kept: dict[str, Job] = {}

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
        made = Job(
            id=id,
            tool=tool,
            arguments=json.loads(json.dumps(arguments)),
            principal=principal,
            workspace=workspace,
            state="running",
            done=0.0,
            total=None,
            message="",
            runs=0,
            version=version,
            result=None,
            error=None,
            created_at=now - age_s,
            updated_at=now,
        )
        self.kept.setdefault(id, made)

    async def begin(self, job_id: str) -> bool:
        """Count a run; False when the job has ended or was asked to stop."""
        job = self._running(job_id)
        if job is None or job_id in self._asked:
            return False
        return self._change(job, runs=job.runs + 1)

    async def find(self, job_id: str, principal: str) -> Job | None:
        """The job of that id."""
        job = self.kept.get(job_id)
        return await self._shown(job) if job and job.principal == principal else None

    async def list(
        self, principal: str, states: Collection[JobState] | None = None, limit: int = 50
    ) -> JobList:
        """A principal's jobs, newest first, of these states or of all."""
        own = [job for job in reversed(self.kept.values()) if job.principal == principal]
        shown = [await self._shown(job) for job in own]
        wanted = [job for job in shown if states is None or job.state in states]
        return sorted(wanted, key=lambda job: -job.created_at)[:limit]

    async def report(
        self, job_id: str, done: float, total: float | None = None, message: str = ""
    ) -> None:
        """Record the progress of a running job; what is no number counts as unknown."""
        if (job := self._running(job_id)) is not None:
            self._change(job, **progress(done, total, message))

    async def finish(self, end: JobEnd) -> bool:
        """End a running job, as long as the lease of that token is there; False otherwise."""
        job = self._running(end.id)
        if job is None or not self._leases.owns(end.token):
            return False
        return self._change(job, result=end.result, error=end.error, state=end.state)

    async def ask_cancel(self, job_id: str, principal: str) -> None:
        """Ask the owner of a job to stop; a job without an owner is cancelled at once."""
        job = self._running(job_id)
        if job is not None and job.principal == principal:
            self._asked.add(job_id)
            self._change(job)
        await self._settle()

    async def cancel_asked(self, job_ids: Iterable[str]) -> set[str]:
        """Find the jobs among these that were asked to stop."""
        return self._asked.intersection(job_ids)

    async def orphans(self, limit: int = 100) -> JobList:
        """Interrupted jobs of all principals, oldest first."""
        shown = [await self._shown(job) for job in self.kept.values()]
        orphans = [job for job in shown if job.state == "interrupted"]
        return sorted(orphans, key=lambda job: job.created_at)[:limit]

    async def prune(self, older_than_s: float) -> int:
        """Remove jobs that ended that many seconds ago, with their steps; returns how many."""
        await self._settle()
        end = self._leases.clock() - older_than_s
        over = [it.id for it in self.kept.values() if it.state != "running" and it.updated_at < end]
        for job_id in over:
            del self.kept[job_id]
            await self._steps.forget(job_scope(job_id))
        return len(over)

    def _running(self, job_id: str) -> Job | None:
        job = self.kept.get(job_id)
        return job if job and job.state == "running" else None

    def _change(self, job: Job, **changes: Any) -> bool:
        self.kept[job.id] = replace(job, **changes, updated_at=self._leases.clock())
        return True

    async def _shown(self, job: Job) -> Job:
        if job.state != "running" or await self._leases.is_owned(job_scope(job.id)):
            return job
        if job.id in self._asked:
            return replace(job, state="cancelled")
        new = (
            job.runs == 0
            and math.fabs(self._leases.clock() - job.updated_at) <= self._leases.lease_s
        )
        return job if new else replace(job, state="interrupted")

    async def _settle(self) -> None:
        for job_id in self._asked:
            job = self._running(job_id)
            if job is not None and not await self._leases.is_owned(job_scope(job_id)):
                self._change(job, state="cancelled")


class MemoryLedger:
    """Leases, jobs and steps that hang together, as parts of a state."""

    def __init__(self, lease_s: float, clock: Callable[[], float]) -> None:
        """`clock` gives seconds since the epoch."""
        self.steps = MemorySteps(clock)
        self.leases = MemoryLeases(self.steps, lease_s, clock)
        self.jobs = MemoryJobs(self.leases, self.steps)
        self.steps.leases, self.steps.jobs = self.leases, self.jobs
