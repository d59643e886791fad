"""Leases: names that one process at a time owns, for as long as it lives."""

from __future__ import annotations

import asyncio
import math
from collections.abc import AsyncIterator, Awaitable, Callable, Collection, Iterable
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.jobs.completion import complete, settle
from vr_kernel.jobs.lease import Lease

if TYPE_CHECKING:
    from vr_kernel.state.protocols import State

BEATS = 5
"""Renewals within the length of a lease."""
PAUSE_S = 0.1
"""Seconds between two tries to own a name that has another owner."""


class LedgerLeases:
    """The leases of this process, kept alive by one heartbeat.

    Args:
        state: keeps the leases of all processes.
    """

    def __init__(self, state: State) -> None:
        self.state = state
        self._held: dict[int, Lease] = {}
        self._released: set[int] = set()
        self._heartbeat: asyncio.Task[None] | None = None

    def now(self) -> float:
        """Seconds since the epoch, by the clock of the leases."""
        return self.state.leases.clock()

    def _steady(self) -> float:
        return self.state.leases.steady()

    async def acquire(self, name: str) -> Lease | None:
        """Own a name; None while any process, this one included, owns it.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """
        taking = asyncio.ensure_future(self._acquire(name))
        cancellation = await settle(taking)
        if cancellation is None:
            return taking.result()
        if not taking.exception() and (lease := taking.result()):
            await self.release(lease)
        raise cancellation

    @asynccontextmanager
    async def held(
        self,
        name: str,
        *,
        until: Callable[[], Awaitable[bool]] | None = None,
        patience: float = math.inf,
        without: Callable[[VrError], bool] = lambda _: False,
        waiting: Callable[[], None] = lambda: None,
    ) -> AsyncIterator[Lease | None]:
        """Own a name for the length of a block; see `Leases.held`."""
        lease = await self.wait_for(
            name, until=until, patience=patience, without=without, waiting=waiting
        )
        try:
            yield lease
        finally:
            if lease is not None:
                await asyncio.shield(self.release(lease))

    async def wait_for(
        self,
        name: str,
        *,
        until: Callable[[], Awaitable[bool]] | None = None,
        patience: float = math.inf,
        without: Callable[[VrError], bool] = lambda _: False,
        waiting: Callable[[], None] = lambda: None,
    ) -> Lease | None:
        """Own a name as soon as it is free; `release` ends that.

        Returns None when the caller should continue without a lease: `until` came true, patience
        ended, or the ledger failed in a way that `without` accepts. The arguments are those of
        `Leases.held`.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written; what `until` raises.
        """
        end = self._steady() + patience
        told = False
        while True:
            try:
                lease = await self.acquire(name)
            except VrError as error:
                if not without(error):
                    raise
                return None
            try:
                over = until is not None and await until()
            except BaseException:
                if lease is not None:
                    await asyncio.shield(self.release(lease))
                raise
            if lease is not None and over:
                await asyncio.shield(self.release(lease))
            left = end - self._steady()
            if over or left <= 0 or lease is not None:
                return None if over else lease
            if not told:
                told = True
                waiting()
            await self.state.signals.wait(_signal(name), min(PAUSE_S, left))

    async def release(self, lease: Lease, *, done: bool = False) -> None:
        """Release a lease; no effect on one that others have taken or that is released already.

        When the ledger cannot be written, the lease is removed when the next one is acquired, or
        expires. With `done` the work is finished and its steps are removed.
        """
        self._drop(lease)
        self._released.add(lease.token)
        with suppress(VrError):
            await complete(self.state.leases.release([lease.token], lease.name if done else ""))
            self.state.signals.send(_signal(lease.name))
            self._released.discard(lease.token)

    def forget(self, leases: Iterable[Lease], unreleased: Collection[int] = ()) -> None:
        """Own leases no longer that were released with other work.

        Those that could not be are removed when the next one is acquired, or expire.
        """
        self._released.update(unreleased)
        for lease in leases:
            self._drop(lease)
            self.state.signals.send(_signal(lease.name))

    async def aclose(self) -> None:
        """Stop the heartbeat and release all leases: work that still goes on has lost them."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.gather(self._heartbeat, return_exceptions=True)
        held = list(self._held.values())
        for lease in held:
            self._lose(lease)
        if held:
            with suppress(VrError):  # runs after a write that the heartbeat began
                await complete(self.state.leases.release([it.token for it in held]))

    async def _acquire(self, name: str) -> Lease | None:
        returned = [*self._released]
        taken = await self.state.leases.take(name, returned)
        self._released.difference_update(returned)
        if taken is None:
            return None
        lease = Lease(name, *taken, self.state.leases.steady, self.state.leases.lease_s)
        self._held[lease.token] = lease
        self._watch(lease)
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._beat(), name="vr-leases")
        return lease

    async def _beat(self) -> None:
        while self._held:
            await asyncio.sleep(self.state.leases.lease_s / BEATS)
            for lease in [lease for lease in self._held.values() if lease.lost]:
                self._lose(lease)
            tokens = list(self._held)
            with suppress(VrError):  # the next beat tries again; each lease expires by itself
                owned, ends_at = await self.state.leases.renew(tokens)
                self._extend(tokens, owned, ends_at)

    def _extend(self, tokens: Iterable[int], owned: set[int], ends_at: float) -> None:
        for token in tokens:
            lease = self._held.get(token)
            # A lease that was once reported as lost stays lost.
            if lease is not None and (token not in owned or lease.lost):
                self._lose(lease)
            elif lease is not None:
                lease.ends_at = ends_at

    def _watch(self, lease: Lease) -> None:
        """Mark the lease as lost when it expires, even if the heartbeat hangs."""
        left = lease.ends_at - self._steady()
        if left > 0:
            loop = asyncio.get_running_loop()
            lease.timer = loop.call_later(left, self._watch, lease)
        else:
            self._lose(lease)

    def _lose(self, lease: Lease) -> None:
        self._drop(lease)
        lease.lost_event.set()

    def _drop(self, lease: Lease) -> None:
        self._held.pop(lease.token, None)
        lease.over = True
        if lease.timer is not None:
            lease.timer.cancel()


def _signal(name: str) -> str:
    return f"lease/{name}"
