"""Calls that may take minutes: jobs that survive a crash, and can be watched and cancelled."""

from __future__ import annotations

import asyncio
import time
import uuid
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

from vr_kernel.calls.context import Context
from vr_kernel.errors import Code, VrError
from vr_kernel.isolation.previewing import refuse_in_preview
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.log import Log
from vr_kernel.progress import Report, silent
from vr_kernel.running import runner
from vr_kernel.running.job_handle import taken_over
from vr_kernel.running.listeners import Listeners
from vr_kernel.running.origins import Origin, trace_of
from vr_kernel.running.runner import Outcome
from vr_kernel.running.running_job import RunningCall, RunningJob, finish, let_go
from vr_kernel.state.jobs import Job, JobState
from vr_kernel.tools import Tool

if TYPE_CHECKING:
    from vr_kernel.running.interrupted import Serve

NEWS_S = 1.0
"""Seconds between progress reports of a job to those who wait for it."""
END_S = 2.5  # of cancelled calls; locks are waited for less long at the end
POLL_S = 0.25  # between checks if a job of another process has ended
MOST_RUNS = 3
"""Interruptions in a row, without a payment in between, after which a job has failed."""


class JobRunner:
    """The long calls of one kernel, and every job of the ledger.

    Args:
        jobs: the ledger's jobs.
        leases: ownership of names across processes.
        steps: the committed replies.
        log: gets problems of background work.
        listeners: called after finished calls.
    """

    def __init__(
        self,
        jobs: JobLedger,
        leases: LedgerLeases,
        steps: Steps,
        log: Log,
        listeners: Listeners,
    ) -> None:
        self.most_runs = MOST_RUNS
        self.leases = leases
        self.steps = steps
        self._jobs = jobs
        self._serve: Serve | None = None
        self._log = log
        self._listeners = listeners
        self._running: dict[str, RunningJob] = {}
        self._following: set[asyncio.Task[Any]] = set()
        self._closing = False
        self._watch: asyncio.Task[None] | None = None

    def serve(self, find: Serve) -> None:
        """Let interrupted jobs of the tools that `find` finds be resumed."""
        self._serve = find

    async def served(self, name: str) -> tuple[Tool, Context]:
        """Find a tool and the services of its plugin.

        Raises:
            VrError: NOT_FOUND for an unknown tool.
        """
        assert self._serve is not None
        return await self._serve(name)

    def start(
        self,
        tool: Tool,
        context: Context,
        arguments: Mapping[str, Any],
        origin: Origin,
        report: Report,
    ) -> RunningJob:
        """Begin a call in the background."""
        context = context.of_principal(origin.principal)
        call_id = origin.call_id or uuid.uuid4().hex
        running = RunningJob(
            id=call_id,
            tool=tool,
            arguments=arguments,
            principal=origin.principal,
            workspace=context.workspace,
            jobs=self._jobs,
            report=report,
            ask=origin.ask,
            trace=trace_of(call_id, origin.trace_context),
            trace_kept=bool(self._listeners) or context.models.recorder.is_heard,
            named=bool(origin.call_id),
        )
        return self._launch(running, context)

    async def begin(self, tool: str, arguments: Mapping[str, Any], principal: str, /) -> str:
        """Begin a job for a principal; see `Jobs.begin`."""
        refuse_in_preview("begin jobs")
        served = await self._serve(tool) if self._serve is not None else None
        if served is None or not served[0].long:
            raise VrError(f"No long tool {tool!r} is served.", Code.NOT_FOUND)
        running = self.start(*served, dict(arguments), Origin(principal), silent)
        return await running.registered()

    async def detach(self, running: RunningCall) -> Job:
        """Let a call go on as a job after its client was answered.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """
        if not isinstance(running, RunningJob):
            raise TypeError("detach takes a call that Kernel.start returned")
        await running.hold()
        return await self.find(running.id, running.principal)

    async def find(self, job_id: str, principal: str) -> Job:
        """A job of that principal; see `Jobs.find`."""
        job = await self._jobs.find(job_id, principal)
        running = self._running.get(job_id)
        if running is None or running.lease is None or running.lease.lost:
            return job
        return self._jobs.under_way(job, running.latest)

    async def wait(
        self,
        job_id: str,
        principal: str,
        wait_s: float,
        tell: Callable[[Job], None] = lambda _job: None,
    ) -> Job:
        """The job when it has ended, or as it is after `wait_s`; an interrupted one is resumed.

        Meanwhile `tell` is given the job whenever it has changed; see `Jobs.wait`.
        """
        told: Job | None = None
        deadline = time.monotonic() + wait_s
        while True:
            job = await self.find(job_id, principal)
            if job.state == "interrupted":
                await self.resume(job)
            left = deadline - time.monotonic()
            if job.state not in ("running", "interrupted") or left <= 0:
                return job
            if job != told:
                tell(job)
                told = job
            running = self._running.get(job_id)
            if running is not None and running.task is not None:
                await asyncio.wait({running.task}, timeout=min(NEWS_S, left))
            else:  # another process works on it
                await asyncio.sleep(min(POLL_S, left))

    async def list(self, principal: str, states: tuple[JobState, ...], limit: int) -> list[Job]:
        """Jobs of that principal, the newest first; of some states, or of all."""
        return await self._jobs.table.list(principal, states or None, limit)

    async def cancel(self, job_id: str, principal: str) -> Job:
        """Cancel a job, in whatever process it is; see `Jobs.cancel`."""
        job = await self._jobs.ask_cancel(job_id, principal)
        running = self._running.get(job_id)
        if running is None:
            return job
        await running.cancel()
        return await self._jobs.find(job_id, principal)

    async def resume(self, job: Job) -> RunningJob | None:
        """Resume an interrupted job; None when another process owns it, or its tool is not served.

        A job of another workspace is left alone.
        """
        from vr_kernel.running.interrupted import take_up

        if self._serve is None:
            return None
        taken = await take_up(job, self._serve, self._jobs, self.steps, self.most_runs)
        if taken is None:
            return None
        self._log.warning("job resumed", job=job.id, tool=job.tool)
        return self._launch(*taken)

    async def resume_all(self) -> None:
        """Resume jobs that other processes left behind."""
        for job in await self._jobs.table.orphans():
            await self.resume(job)

    async def prune(self, older_than_s: float) -> None:
        """Remove jobs that ended long ago, and steps that were never used again."""
        try:
            await self._jobs.table.prune(older_than_s)
            await self.steps.table.prune(older_than_s)
        except VrError as error:
            self._log.warning("old jobs were not removed", reason=error.message)

    async def aclose(self) -> None:
        """Stop; detached jobs stay in the ledger, to be resumed."""
        self._closing = True
        tasks: list[asyncio.Task[Any]] = [it.task for it in self._running.values() if it.task]
        tasks += self._following
        if self._watch is not None:
            tasks.append(self._watch)
        for task in tasks:
            task.cancel()
        if tasks:
            await asyncio.wait(tasks, timeout=END_S)
        await self.leases.aclose()

    def _launch(self, running: RunningJob, context: Context) -> RunningJob:
        if running.named:
            work = self._work_named(running, context)
        else:
            self._admit(running)
            work = self._work(running, context)
        running.task = asyncio.create_task(work, name=f"vr-{running.id}")
        return running

    def _admit(self, running: RunningJob) -> None:
        self._running[running.id] = running
        if self._watch is None or self._watch.done():
            from vr_kernel.running.job_watch import look_after

            self._watch = asyncio.create_task(
                look_after(self._running, self._jobs, self._log), name="vr-jobs"
            )

    async def _run(self, running: RunningJob, context: Context) -> Outcome:
        if self._serve is not None:
            try:
                await self._serve(running.tool.name)
            except VrError as error:
                return Outcome(running.id, error=error)
        while True:
            given = (running.tool, running.arguments, running.begin(context, self.steps))
            outcome = await runner.run(*given, self._listeners, lambda: running.cancelled)
            if not running.is_held_up(outcome):
                return outcome
            await asyncio.sleep(NEWS_S)

    async def _work_named(self, running: RunningJob, context: Context) -> Outcome:
        from vr_kernel.running.named_calls import found

        try:
            outcome = await found(running, self, self._following)
        except asyncio.CancelledError:
            await let_go(running, self.leases, self._log)  # it may be a job already
            raise
        if outcome is not None:
            return outcome
        self._admit(running)
        return await self._work(running, context)

    async def _work(self, running: RunningJob, context: Context) -> Outcome:
        try:
            outcome = await self._run(running, context)
            lost = running.is_lost(outcome.error)
            await finish(running, outcome, self.leases, self._log)
        except asyncio.CancelledError as error:
            self._forget(running)
            lost = running.is_lost(error) and not self._closing
            await let_go(running, self.leases, self._log)
            if not lost:
                raise
            outcome = Outcome(running.id, error=taken_over(running.id))
        finally:
            self._forget(running)
        if lost and not self._closing:
            from vr_kernel.running.lost_job import followed

            outcome = await followed(running, outcome, self, self._following)
        return outcome

    def _forget(self, running: RunningJob) -> None:
        if self._running.get(running.id) is running:
            del self._running[running.id]
