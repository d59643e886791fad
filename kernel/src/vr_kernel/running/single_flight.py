"""Equal work that is requested at the same time is done once, also across processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from vr_kernel.calls.produced import CacheWrite, Produced
from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.lease import Lease, was_lost
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.storage.database_faults import is_held, is_of_state

if TYPE_CHECKING:
    from vr_kernel.calls.result_cache import ResultCache

M = TypeVar("M", bound=BaseModel)
WAITING = "Waiting for an equal call that is under way"
Produce = Callable[[Produced], Awaitable[M]]


class SingleFlights:
    """The work that runs in this process, by the cache key of its result.

    Of several processes, the one that holds the lease of a key works; the others wait for its
    result to appear in the cache, or for the lease to end.

    Args:
        cache: where results are kept.
        leases: decide which process works.
        workspace: whose work it is; empty for the owner's.
    """

    def __init__(self, cache: ResultCache, leases: LedgerLeases, workspace: str = "") -> None:
        self.cache = cache
        self._workspace = workspace
        self.leases = leases
        self._under_way: dict[str, SingleFlight[Any]] = {}
        self.within: ContextVar[tuple[str, ...]] = ContextVar("vr-single-flights", default=())

    async def once(
        self,
        call: Produced,
        key: str,
        result: type[M],
        produce: Produce[M],
        content_id: str,
        *,
        looked: bool = False,
    ) -> M:
        """Return the cached result of that key, or the one that is computed now for all callers.

        Raises:
            VrError: what `produce` raised, for every caller that waited for it.
            RuntimeError: when the work asks for its own result, which would be a deadlock.
        """
        if call.meter.foreseen is not None:  # nobody may wait for what is not made
            known = None if looked else await self.known(key, result)
            return known or await produce(call.branch(None, call.report))
        if key in self._under_way and key in self.within.get():
            raise RuntimeError(f"{call.tool} asks for a result while it makes it")
        while True:
            known = None if looked else await self.known(key, result)
            if known is not None:
                if call.run > 1:  # a process that died may have left the steps of it
                    with suppress(VrError):
                        await call.context.steps.table.forget(self.place(key))
                return known
            looked = False
            work = self._under_way.get(key)
            if work is None:
                work = SingleFlight(self, key, result, produce, content_id)
                self._under_way[key] = work
            value: M | None = await work.join(call)
            if value is not None:
                return value

    async def known(self, key: str, result: type[M]) -> M | None:
        """Return the cached result; one that does not fit is deleted."""
        kept = await self.cache.model(key, result).get()
        return None if kept is None else as_cached(kept)

    def place(self, key: str) -> str:
        """Return the name under which the ledger has leases and steps of this work."""
        return f"result/{self._workspace}/{key}" if self._workspace else f"result/{key}"

    def finish(self, key: str, work: SingleFlight[Any]) -> None:
        """Forget a piece of work that has ended."""
        if self._under_way.get(key) is work:
            del self._under_way[key]


class SingleFlight(Generic[M]):
    """One piece of work and all callers that wait for it.

    It goes on while any caller waits. Its records and costs belong to the caller that has waited
    longest when it ends; the others get the same result as if from the cache. They rely on the
    records: the owning call writes them even if it fails itself.
    """

    def __init__(
        self,
        flights: SingleFlights,
        key: str,
        result: type[M],
        produce: Produce[M],
        content_id: str,
    ) -> None:
        self._flights = flights
        self._key = key
        self._result = result
        self._produce = produce
        self._content_id = content_id
        self._waiting: list[Produced] = []
        self._left: Produced | None = None
        self._task: asyncio.Task[M] | None = None
        self._lease: Lease | None = None
        self._given_up = False
        self._taken_over = False

    async def join(self, call: Produced) -> M | None:
        """Wait for the result; None when the work was given up before this caller joined.

        Raises:
            VrError: what the work raised.
        """
        self._waiting.append(call)
        if self._task is None:
            self._task = asyncio.create_task(self._run(call), name=f"vr-once-{call.tool}")
            self._task.add_done_callback(_retrieve_exception)
        else:
            call.report(0, None, WAITING)
        task = self._task
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._leave(call, task)
            raise
        return self._ended(call, task)

    def _ended(self, call: Produced, task: asyncio.Task[M]) -> M | None:
        """Return what a caller gets when the work has ended; None when it should ask again."""
        if task.cancelled():
            if self._given_up:
                return None
            raise asyncio.CancelledError
        owned = self._waiting[0] is call
        error = task.exception()
        if error is None:
            return task.result() if owned else as_cached(task.result())
        if not isinstance(error, VrError):
            raise error
        if self._taken_over:
            return None  # use the other process's result
        raise error if owned else _unpaid(error)

    async def _leave(self, call: Produced, task: asyncio.Task[M]) -> None:
        if not task.done():
            self._left = call
            self._waiting.remove(call)
            if not self._waiting:
                self._given_up = True
                self._flights.finish(self._key, self)
                task.cancel()
                await asyncio.wait({task})

    async def _run(self, first: Produced) -> M:
        within = self._flights.within
        within.set((*within.get(), self._key))  # for this task and those that it starts
        try:
            known = await self._claim(first)
            # Outside `ended`, some exceptions of a plugin would end the process.
            return await PluginCode.ended(self._work(first)) if known is None else known
        finally:
            self._flights.finish(self._key, self)

    async def _work(self, first: Produced) -> M:
        shared = first.share(self._flights.place(self._key), self._lease, self._report)
        if shared.scope is not None and first.scope is not None:
            shared.scope.went_on = first.scope.went_on
        try:
            value = await PluginCode.apart(self._produce, shared)
            self._deliver(value, shared)
        except BaseException as error:
            self._hand_over_costs(self._waiting[0] if self._waiting else self._left, shared)
            self._taken_over = self._lease is not None and was_lost(self._lease, error)
            await self._release()
            raise
        return value

    def _hand_over_costs(self, call: Produced | None, shared: Produced) -> None:
        """Hand over the costs of failed work, and its remaining shared work and leases."""
        if call is not None:
            call.meter.add_all(shared.meter)
            call.shared.extend(shared.shared)
            call.leases.extend(lease for lease in shared.leases if lease is not self._lease)

    def _deliver(self, value: M, shared: Produced) -> None:
        """Give the result, with records and costs, to the caller that has waited longest."""
        if not isinstance(value, self._result):
            raise TypeError(f"{shared.tool}: {type(value).__name__} is no {self._result.__name__}")
        if not self._waiting:  # the work ignored its cancellation
            raise asyncio.CancelledError
        if shared.repeatable:
            place = self._flights.cache.model(self._key, self._result)
            model = ", ".join(shared.meter.models)
            # A process that took over may be done already, so this replaces nothing.
            write = CacheWrite(place.key, place.dump(value), self._content_id, model, replace=False)
            shared.cache_writes.append(write)
            shared.meter.kept_calls = shared.meter.usage.calls
            if self._lease is not None:
                self._lease.unfinished = False
        if len(self._waiting) > 1:
            shared.shared = [shared]
        self._waiting[0].absorb(shared)

    async def _claim(self, call: Produced) -> M | None:
        """Acquire the lease of this work, or return its result if another process finished it."""
        known: M | None = None

        async def is_known() -> bool:
            nonlocal known
            known = await self._flights.known(self._key, self._result)
            return known is not None

        # Without a usable ledger, work without a lease; if it is locked, others may be working.
        self._lease = await self._flights.leases.wait_for(
            self._flights.place(self._key),
            until=is_known,
            without=lambda error: is_of_state(error) and not is_held(error),
            waiting=lambda: call.report(0, None, f"{WAITING} in another process"),
        )
        return known

    async def _release(self) -> None:
        if self._lease is not None:
            await asyncio.shield(self._flights.leases.release(self._lease))

    def _report(self, done: float, total: float | None, message: str) -> None:
        for call in tuple(self._waiting):
            with suppress(Exception), PluginCode():  # one of them may belong to a plugin
                call.report(done, total, message)


def as_cached(value: M) -> M:
    """Return the result for a caller that did not pay for it."""
    changes = {"cached": True, "usage": None}
    known = {name: v for name, v in changes.items() if name in type(value).model_fields}
    return value.model_copy(update=known)


def _unpaid(error: VrError) -> VrError:
    """Return the error for a caller that did not pay for the failed work."""
    again = copy(error)
    again.usage = None
    return again


def _retrieve_exception(task: asyncio.Task[Any]) -> None:
    """Mark the exception as retrieved, since no caller may be left."""
    if not task.cancelled():
        task.exception()
