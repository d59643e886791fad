"""Equal work that is asked for at the same time is done once, also across processes."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from contextvars import ContextVar
from copy import copy
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.leases import Lease, Leases, was_lost
from vr_kernel.storage.cache import Cache
from vr_kernel.storage.database_faults import is_held, is_of_state

if TYPE_CHECKING:
    from vr_kernel.call import Call

M = TypeVar("M", bound=BaseModel)
POLL_S = 0.1
"""How often a process looks whether another one has finished equal work."""
WAITING = "Waiting for an equal call that is under way"


class Flights:
    """The work under way in this process, by the cache key of its result.

    Across processes the one that holds the lease of a key works; the others wait for its
    result to appear in the cache, or for the lease to end.

    Args:
        cache: where results are kept.
        leases: who works on what.
        workspace: whose work it is; empty for the owner's.
    """

    def __init__(self, cache: Cache, leases: Leases, workspace: str = "") -> None:
        self.cache = cache
        self._workspace = workspace
        self.leases = leases
        self._flying: dict[str, Flight[Any]] = {}
        self.within: ContextVar[tuple[str, ...]] = ContextVar("vr-flights", default=())

    async def once(
        self,
        call: Call,
        key: str,
        result: type[M],
        produce: Callable[[Call], Awaitable[M]],
        content_id: str,
        *,
        looked: bool = False,
    ) -> M:
        """The cached result of that key, or the one that is computed now, for all who ask.

        Raises:
            VrError: what `produce` raised, for everybody who waited for it.
            RuntimeError: when the work asks for its own result, for which it would wait for ever.
        """
        if key in self._flying and key in self.within.get():
            raise RuntimeError(f"{call.tool} asks for a result while it makes it")
        while True:
            known = None if looked else await self.known(key, result)
            if known is not None:
                return known
            looked = False
            flight = self._flying.get(key)
            if flight is None:
                flight = self._flying[key] = Flight(self, key, result, produce, content_id)
            value: M | None = await flight.join(call)
            if value is not None:
                return value

    async def known(self, key: str, result: type[M]) -> M | None:
        """The cached result; one that does not fit is forgotten."""
        kept = await self.cache.model(key, result).get()
        return None if kept is None else as_cached(kept)

    def place(self, key: str) -> str:
        """The name under which the ledger has leases and steps of this work."""
        return f"result/{self._workspace}/{key}" if self._workspace else f"result/{key}"

    def land(self, key: str, flight: Flight[Any]) -> None:
        """A piece of work has ended."""
        if self._flying.get(key) is flight:
            del self._flying[key]


class Flight(Generic[M]):
    """One piece of work and everybody who waits for it.

    It goes on while anybody waits. What it recorded and cost belongs to the caller who has
    waited longest when it ends; the others get the same result as if from the cache. That it
    gets there is owed to them: the owner's call sees to it even when it does not succeed.
    """

    def __init__(
        self,
        flights: Flights,
        key: str,
        result: type[M],
        produce: Callable[[Call], Awaitable[M]],
        content_id: str,
    ) -> None:
        self._flights = flights
        self._key = key
        self._result = result
        self._produce = produce
        self._content_id = content_id
        self._waiting: list[Call] = []
        self._left: Call | None = None
        self._task: asyncio.Task[M] | None = None
        self._lease: Lease | None = None
        self._given_up = False
        self._taken_over = False

    async def join(self, call: Call) -> M | None:
        """The result; None when the work was given up before this caller joined.

        Raises:
            VrError: what the work raised.
        """
        self._waiting.append(call)
        if self._task is None:
            self._task = asyncio.create_task(self._fly(call), name=f"vr-flight-{call.tool}")
            self._task.add_done_callback(_look_at)
        else:
            call.progress(0, None, WAITING)
        task = self._task
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError:
            await self._leave(call, task)
            raise
        return self._landed(call, task)

    def _landed(self, call: Call, task: asyncio.Task[M]) -> M | None:
        """What a caller gets of work that ended; None when it is to ask again."""
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
            return None  # the other process's result will do
        raise error if owned else _unpaid(error)

    async def _leave(self, call: Call, task: asyncio.Task[M]) -> None:
        if not task.done():
            self._left = call
            self._waiting.remove(call)
            if not self._waiting:
                self._given_up = True
                self._flights.land(self._key, self)
                task.cancel()
                await asyncio.wait({task})

    async def _fly(self, first: Call) -> M:
        within = self._flights.within
        within.set((*within.get(), self._key))  # of this task, and of those that it begins
        try:
            known = await self._take_off(first)
            # Out of a task some of what a plugin may raise would end the process.
            return await PluginCode.ended(self._work(first)) if known is None else known
        finally:
            self._flights.land(self._key, self)

    async def _work(self, first: Call) -> M:
        shared = first.shared(self._key, self._lease, self._report)
        if shared.scope is not None and first.scope is not None:
            shared.scope.went_on = first.scope.went_on
        try:
            value = await PluginCode.apart(self._produce, shared)
            self._deliver(value, shared)
        except BaseException as error:
            self._settle_with(self._waiting[0] if self._waiting else self._left, shared)
            self._taken_over = self._lease is not None and was_lost(self._lease, error)
            await self._release()
            raise
        return value

    def _settle_with(self, call: Call | None, shared: Call) -> None:
        """Hand over what work that failed has paid, and what is left of other shared work in it."""
        if call is not None:
            call.meter.add_all(shared.meter)
            call.owed.extend(shared.owed)
            call.held.extend(lease for lease in shared.held if lease is not self._lease)

    def _deliver(self, value: M, shared: Call) -> None:
        """Give what was produced, with all that belongs to it, to one of those who wait."""
        if not isinstance(value, self._result):
            raise TypeError(f"{shared.tool}: {type(value).__name__} is no {self._result.__name__}")
        if not self._waiting:  # the work did not end when it was cancelled
            raise asyncio.CancelledError
        if shared.repeatable:
            place = self._flights.cache.model(self._key, self._result)
            shared.keep(
                place.key,
                place.dump(value),
                content_id=self._content_id,
                model=", ".join(shared.meter.models),
                over=False,  # who took over a process that stood still may be done
            )
            shared.meter.kept_calls = shared.meter.usage.calls
            if self._lease is not None:
                self._lease.unfinished = False
        if len(self._waiting) > 1:
            shared.owed = [shared]
        self._waiting[0].absorb(shared)

    async def _take_off(self, call: Call) -> M | None:
        """Take the lease of this work; or its result, when another process had it."""
        told = False
        while True:
            try:
                self._lease = await self._flights.leases.acquire(self._flights.place(self._key))
            except VrError as error:
                if not is_of_state(error) or is_held(error):  # it may be under way elsewhere
                    raise
                return None
            # Whoever had the lease until now may have left a result.
            try:
                known = await self._flights.known(self._key, self._result)
            except BaseException:
                await self._release()
                raise
            if known is not None:
                await self._release()
                return known
            if self._lease is not None:
                return None
            if not told:
                call.progress(0, None, f"{WAITING} in another process")
                told = True
            await asyncio.sleep(POLL_S)

    async def _release(self) -> None:
        if self._lease is not None:
            await asyncio.shield(self._flights.leases.release(self._lease))

    def _report(self, done: float, total: float | None, message: str) -> None:
        for call in tuple(self._waiting):
            with suppress(Exception), PluginCode():  # one of them may be a plugin's own
                call.report(done, total, message)


def as_cached(value: M) -> M:
    """The result as somebody gets it who did not pay for it."""
    changes = {"cached": True, "usage": None}
    known = {name: v for name, v in changes.items() if name in type(value).model_fields}
    return value.model_copy(update=known)


def _unpaid(error: VrError) -> VrError:
    """The error as somebody gets it who did not pay for what failed."""
    again = copy(error)
    again.usage = None
    return again


def _look_at(task: asyncio.Task[Any]) -> None:
    """Nobody may be left to see how it ended."""
    if not task.cancelled():
        task.exception()
