"""Leases: names that one process at a time owns, for as long as it lives."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterable
from contextlib import asynccontextmanager, suppress
from functools import partial

from vr_kernel.errors import VrError
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.ledger import complete, settle
from vr_kernel.jobs.liveness import Watch, steady_clock
from vr_kernel.storage.kept_database import KeptDatabase

BEATS = 5
"""Renewals within the length of a lease."""
KEPT_S = 86_400
"""Rows of dead owners are removed after this time."""
RELEASE_WAIT_S = 2.0
"""Seconds that a release waits for another process; a lease that is not released expires."""
PAUSE_S = 0.1
"""Seconds between two tries to own a name that has another owner."""


class LedgerLeases:
    """The leases of this process, kept alive by one heartbeat.

    Args:
        database: the ledger.
        lease_s: seconds until a silent owner counts as dead; well above the longest stall.
        clock: seconds since the epoch, the same for all processes of the ledger.
        steady: a monotonic clock, by which an owner measures its lease.
    """

    def __init__(
        self,
        database: KeptDatabase,
        *,
        lease_s: float,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_clock,
    ) -> None:
        self.lease_s = lease_s
        self.clock = clock
        self.watch = Watch(lease_s, clock, steady)
        self._steady = steady
        self._database = database
        self._held: dict[int, Lease] = {}
        self._released: set[int] = set()
        self._heartbeat: asyncio.Task[None] | None = None

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
        """Own a name for the length of a block; the arguments are those of `wait_for`.

        Yields None where `wait_for` returns None.
        """
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
        ended, or the ledger failed in a way that `without` accepts.

        Args:
            name: what to own.
            until: checks, after each try, if another process has done the work by now.
            patience: seconds to wait for another owner.
            without: the errors of the ledger after which to go on without a lease.
            waiting: called once, before the first pause, to say that this waits.

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
            await asyncio.sleep(min(PAUSE_S, left))

    async def release(self, lease: Lease, *, done: bool = False) -> None:
        """Release a lease; no effect on one that others have taken or that is released already.

        When the ledger cannot be written, the lease is removed when the next one is acquired, or
        expires. With `done` the work is finished and its steps are removed.
        """
        self._drop(lease)
        self._released.add(lease.token)
        delete = partial(_delete, tokens=[lease.token], scope=lease.name if done else "")
        with suppress(VrError):
            await complete(self._database.run(delete, wait_s=RELEASE_WAIT_S))
            self._released.discard(lease.token)

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
                delete = partial(_delete, tokens=[it.token for it in held])
                await complete(self._database.run(delete, wait_s=RELEASE_WAIT_S))

    async def _acquire(self, name: str) -> Lease | None:
        taken = await self._database.run(partial(self._insert, name))
        if taken is None:
            return None
        lease = Lease(name, *taken, self._steady)
        self._held[lease.token] = lease
        self._watch(lease)
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._beat(), name="vr-leases")
        return lease

    def _insert(self, name: str, connection: sqlite3.Connection) -> tuple[int, float] | None:
        _delete(connection, [*self._released])
        if self.watch.is_live(connection, name):
            return None
        # The steady clock first: this process must not count on a lease longer than others wait.
        ends_at, now = self._steady() + self.lease_s, self.clock()
        old = -math.inf if self.watch.was_set() else now - KEPT_S
        connection.execute("DELETE FROM lease WHERE name = ? OR expires_at < ?", (name, old))
        added = connection.execute(
            "INSERT INTO lease (name, expires_at) VALUES (?, ?)", (name, now + self.lease_s)
        )
        return added.lastrowid or 0, ends_at

    async def _beat(self) -> None:
        while self._held:
            await asyncio.sleep(self.lease_s / BEATS)
            for lease in [lease for lease in self._held.values() if lease.lost]:
                self._lose(lease)
            tokens = list(self._held)
            with suppress(VrError):  # the next beat tries again; each lease expires by itself
                owned, ends_at = await self._database.insist(partial(self._renew, tokens))
                self._extend(tokens, owned, ends_at)

    def _renew(self, tokens: Iterable[int], it: sqlite3.Connection) -> tuple[set[int], float]:
        ends_at, wall = self._steady() + self.lease_s, self.clock() + self.lease_s
        renew = "UPDATE lease SET expires_at = ? WHERE token = ?"
        owned = {each for each in tokens if it.execute(renew, (wall, each)).rowcount}
        return owned, ends_at

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


def _delete(connection: sqlite3.Connection, tokens: Iterable[int], scope: str = "") -> None:
    if scope:
        connection.execute("DELETE FROM step WHERE scope = ?", (scope,))
    connection.executemany("DELETE FROM lease WHERE token = ?", [(token,) for token in tokens])
