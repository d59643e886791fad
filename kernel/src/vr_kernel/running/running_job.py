"""One long call that runs in this process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from functools import partial
from typing import Any, Protocol

from pydantic_core import to_jsonable_python

from vr_kernel.calls.context import Context
from vr_kernel.calls.produced import Produced
from vr_kernel.errors import Code, VrError
from vr_kernel.events import NO_TRACE, Trace
from vr_kernel.jobs.completion import complete
from vr_kernel.jobs.jobs import JobLedger
from vr_kernel.jobs.lease import Lease, was_lost
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.jobs.steps import Steps
from vr_kernel.log import Log
from vr_kernel.progress import Report
from vr_kernel.questions import Asker, ask_nobody
from vr_kernel.running import runner
from vr_kernel.running.job_handle import cancelled, ending_of, id_used, taken_over
from vr_kernel.running.origins import Origin
from vr_kernel.running.runner import Outcome
from vr_kernel.state.jobs import Job, job_scope
from vr_kernel.storage.database_faults import is_held
from vr_kernel.tools import Tool

TRACE = "trace"
"""The key of the step that keeps the trace of a job's first run."""


class RunningCall(Protocol):
    """A call of a long tool that was begun, for the front that began it."""

    id: str
    """The id of the call, and of its job, if it becomes one."""

    async def ends_within(self, seconds: float) -> bool:
        """Wait up to that long, and say if it has ended; cancelling the waiter cancels the call."""

    async def outcome(self) -> Outcome:
        """Wait for the end, and return it; cancelling the waiter cancels the call."""

    async def cancel(self) -> None:
        """Cancel the call, and wait until it has ended."""


@dataclass(slots=True)
class RunningJob:
    """A call of a long tool; `run` counts the processes that began it, this one included.

    It gets a row in the ledger when it first pays for something, or when it is detached; at its
    beginning when it is `named`: its id is its caller's.
    """

    id: str
    tool: Tool
    arguments: Mapping[str, Any]
    principal: str
    workspace: str
    jobs: JobLedger
    report: Report
    ask: Asker = ask_nobody
    lease: Lease | None = None
    run: int = 1
    trace: Trace = NO_TRACE
    trace_kept: bool = False
    """True when the next process that runs it is to know its trace."""
    named: bool = False
    task: asyncio.Task[Outcome] | None = None
    latest: tuple[float, float | None, str] = (0.0, None, "")
    begun: float = field(default_factory=time.monotonic)
    cancelled: bool = False
    went_on: bool = False
    elsewhere: Job | None = None
    """The job of this id, when another call of the same caller's id has it or has ended it."""
    _claimed: bool = False
    _steps: Steps | None = None
    _holding: asyncio.Lock = field(default_factory=asyncio.Lock)

    def begin(self, context: Context, steps: Steps) -> Produced:
        """Begin the call itself; each repetition is a new one."""
        self._steps = steps
        call = runner.begin(
            self.tool,
            context,
            self.progress,
            Origin(self.principal, self.ask, self.id),
            trace=self.trace,
            hold=self.hold,
        )
        call.run = self.run
        call.owner = self.owned
        if call.scope is not None:
            call.scope.went_on = partial(self._keep_going_on, steps)
        return call

    async def _keep_going_on(self, steps: Steps) -> None:
        """Record that this run made progress."""
        if not self.went_on and self.lease is not None:
            self.went_on = True
            await steps.commit(job_scope(self.id), run_mark(self.run), True)

    async def hold(self) -> Lease | None:
        """Make sure that the ledger has this job and this process owns it; None when it has ended.

        Work that this call began may go on for others that wait for it.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another process has it.
        """
        if self.named and await self.claim() is not None:
            return None
        async with self._holding:
            if self.lease is None:
                if self.cancelled or (self.task is not None and self.task.done()):
                    return None
                await complete(self._begin())
                await self._keep_trace()
        if self.lease is None:
            raise taken_over(self.id)
        return self.lease

    async def _begin(self) -> None:
        await self._create()
        self.lease = await self.jobs.begin(self.id)

    async def _keep_trace(self) -> None:
        trace = self.trace
        if self.trace_kept and self._steps is not None and (trace.context or trace.parent):
            with suppress(VrError):
                await self._steps.commit(job_scope(self.id), TRACE, asdict(trace), lease=self.lease)

    async def claim(self) -> Job | None:
        """Make it the job of its caller's id; returns that job when another call has it already.

        A cancellation comes after that, so that no job is left without an end.

        Raises:
            VrError: CONFLICT, category CALL_ID_USED, for an id of another tool, other arguments or
                another principal; UNAVAILABLE when the ledger cannot be written.
        """
        async with self._holding:
            if not self._claimed:
                await complete(self._claim())
        return self.elsewhere

    async def _claim(self) -> None:
        await self._create()
        job = await self.known()
        going = job.state in ("running", "interrupted")
        self.lease = await self.jobs.begin(self.id) if going else None
        self.run = job.runs + 1
        self.elsewhere = None if self.lease is not None else job
        self._claimed = True

    async def _create(self) -> None:
        await self.jobs.table.create(
            id=self.id,
            tool=self.tool.name,
            arguments=to_jsonable_python(self.tool.without_secrets(self.arguments)),
            principal=self.principal,
            workspace=self.workspace,
            version=self.tool.steps_version,
            age_s=time.monotonic() - self.begun,
        )

    async def known(self) -> Job:
        """Return the job of this id, when it is of the same call."""
        try:
            job = await self.jobs.find(self.id, self.principal)
        except VrError as error:
            if error.code is not Code.NOT_FOUND:
                raise
            raise id_used(self.id) from None
        told = to_jsonable_python(self.tool.without_secrets(self.arguments))
        same = (self.tool.name, json.loads(json.dumps(told)), self.workspace)
        if (job.tool, job.arguments, job.workspace) != same:
            raise id_used(self.id)
        return job

    async def registered(self) -> str:
        """Make sure that the ledger has this job, and return its id; without it, cancel the job.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """
        try:
            await self.hold()
        except BaseException:
            await self.cancel()
            raise
        return self.id

    async def owned(self) -> Lease | None:
        """The lease of this job, if it has one or is just acquiring one."""
        async with self._holding:
            return self.lease

    def progress(self, done: float, total: float | None, message: str) -> None:
        """Pass a report on, and remember it for the ledger; safe from any thread."""
        # The ledger accepts no integers of other libraries or beyond 64 bits.
        self.latest = (float(done), None if total is None else float(total), message)
        self.report(done, total, message)

    def is_lost(self, error: BaseException | None) -> bool:
        """Check if it failed because its process was suspended: the job may go on elsewhere."""
        if error is None or self.lease is None or self.cancelled:
            return False
        return self.lease.lost_event.is_set() or was_lost(self.lease, error)

    def is_held_up(self, outcome: Outcome) -> bool:
        """Check if it must run again, here and now, because another process held a file.

        That process may be the one that began the job, and it gets the final outcome, not the
        error.
        """
        error = outcome.error
        if self.run == 1 or error is None or not is_held(error) or self.is_lost(error):
            return False
        self.progress(*self.latest[:2], error.message)
        return True

    async def ends_within(self, seconds: float) -> bool:
        """Wait up to that long; cancelling the waiter cancels the call."""
        assert self.task is not None
        try:
            await asyncio.wait({self.task}, timeout=seconds)
        except asyncio.CancelledError:
            await self.cancel()
            raise
        return self.task.done()

    async def outcome(self) -> Outcome:
        """Wait for the end; cancelling the waiter cancels the call.

        Raises:
            asyncio.CancelledError: when the job was cancelled from elsewhere.
        """
        assert self.task is not None
        try:
            await asyncio.wait({self.task})
        except asyncio.CancelledError:
            await self.cancel()
            raise
        if self.task.cancelled():
            error = cancelled(self.id) if self.cancelled else taken_over(self.id)
            return Outcome(self.id, error=error)
        return self.task.result()

    async def cancel(self) -> None:
        """End it, and wait until it has ended."""
        assert self.task is not None
        self.cancelled = True
        self.task.cancel()
        await asyncio.wait({self.task})


async def finish(running: RunningJob, outcome: Outcome, leases: LedgerLeases, log: Log) -> None:
    """Record the end of a call that is a job."""
    lease = await running.owned()
    if lease is None:
        return
    if outcome.error is not None and lease.lost:
        # The process was suspended, such as by a sleeping computer: this failure is not final.
        await let_go(running, leases, log)
        return
    try:
        with suppress(VrError):  # recording the end matters more
            await running.jobs.table.report(running.id, *running.latest)
        await running.jobs.finish(running.id, lease, **ending_of(outcome))
    except VrError as failure:
        log.warning("job's end was not kept", job=running.id, reason=failure.message)


async def let_go(running: RunningJob, leases: LedgerLeases, log: Log) -> None:
    """After a cancellation, record it as final, or leave the job to another process."""
    lease = await running.owned()
    if lease is None:
        return
    try:
        if running.cancelled:
            await running.jobs.finish(running.id, lease, state="cancelled")
        else:
            await leases.release(lease)
    except VrError as failure:
        log.warning("job's end was not kept", job=running.id, reason=failure.message)


def run_mark(run: int) -> str:
    """The key of the step that marks the progress of a run of a job."""
    return f"run/{run}"
