"""Who works on what: names that one process at a time owns, for as long as it lives."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable, Iterable
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial
from typing import NamedTuple

from vr_kernel.database import Database
from vr_kernel.errors import Code, VrError
from vr_kernel.jobs.ledger import complete, settle

BEATS = 5
"""Renewals within the length of a lease."""
LIVE = "expires_at > :now AND expires_at < :now + 3600"
"""SQL: a row of `lease` is live. One that ends later was written by a clock gone wrong."""
KEPT_S = 86_400
"""Rows of dead owners are removed after this time."""


class Term(NamedTuple):
    """The moment a lease ends, on both clocks."""

    monotonic: float
    wall: float


@dataclass(eq=False)
class Lease:
    """A name that this process owns until it is released or lost.

    Attributes:
        name: what is owned.
        token: rises with every change of owner, so that a late writer can be told.
        lost_event: set, in the event loop, when the lease is lost; never by a release.
        term, clock, over, timer: kept by `Leases`.
    """

    name: str
    token: int
    term: Term = field(repr=False)
    clock: Callable[[], float] = field(repr=False)
    lost_event: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    over: bool = field(default=False, repr=False)
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def lost(self) -> bool:
        """Whether another process may own the name by now; safe to ask from any thread.

        A computer that slept stops the monotonic clock, a clock that was set changes the other
        one: whichever ends first holds.
        """
        return (
            self.over or time.monotonic() >= self.term.monotonic or self.clock() >= self.term.wall
        )

    def check(self) -> None:
        """Go on only as the owner.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when this process no longer owns the name.
        """
        if self.lost:
            raise lease_lost(self)


def lease_lost(lease: Lease) -> VrError:
    """The error of work that another process may have taken over."""
    return VrError(
        f"This process no longer owns {lease.name}.",
        Code.CONFLICT,
        category="LEASE_LOST",
        hint="Another process may go on with it. Ask for its state, or call again.",
        retryable=True,
    )


def is_owner(connection: sqlite3.Connection, lease: Lease) -> bool:
    """Inside a transaction: nobody else took the lease."""
    row = connection.execute("SELECT 1 FROM lease WHERE token = ?", (lease.token,)).fetchone()
    return row is not None


class Leases:
    """The leases of this process, kept alive by one heartbeat.

    Args:
        database: the ledger.
        lease_s: seconds until a silent owner counts as dead; well above the longest stall.
        clock: seconds since the epoch, the same for all processes of the ledger.
    """

    def __init__(
        self, database: Database, *, lease_s: float, clock: Callable[[], float] = time.time
    ) -> None:
        self.lease_s = lease_s
        self.clock = clock
        self._database = database
        self._held: dict[int, Lease] = {}
        self._heartbeat: asyncio.Task[None] | None = None

    async def acquire(self, name: str) -> Lease | None:
        """Own a name; None while anybody, this process included, owns it.

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

    async def release(self, lease: Lease, *, done: bool = False) -> None:
        """Let others in; without effect on a lease that others have taken or that is released.

        When the ledger cannot be written, the lease runs out by itself. With `done` the work is:
        its steps are forgotten.
        """
        self._drop(lease)
        scope = lease.name if done else ""
        with suppress(VrError):
            await complete(self._database.run(partial(_delete, tokens=[lease.token], scope=scope)))

    async def is_held(self, name: str) -> bool:
        """Whether any process owns the name now.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """

        def read(connection: sqlite3.Connection) -> bool:
            row = connection.execute(
                f"SELECT 1 FROM lease WHERE name = :name AND {LIVE}",  # noqa: S608 - constant text
                {"name": name, "now": self.clock()},
            ).fetchone()
            return row is not None

        return await self._database.read(read)

    async def aclose(self) -> None:
        """Stop the heartbeat and release what is held: work that still goes on has lost it."""
        if self._heartbeat is not None:
            self._heartbeat.cancel()
            await asyncio.gather(self._heartbeat, return_exceptions=True)
        held = list(self._held.values())
        for lease in held:
            self._lose(lease)
        if held:
            with suppress(VrError):  # comes after what the heartbeat began
                await complete(
                    self._database.run(partial(_delete, tokens=[it.token for it in held]))
                )

    async def _acquire(self, name: str) -> Lease | None:
        taken = await self._database.run(partial(self._insert, name))
        if taken is None:
            return None
        lease = Lease(name, *taken, self.clock)
        self._held[lease.token] = lease
        self._watch(lease)
        if self._heartbeat is None or self._heartbeat.done():
            self._heartbeat = asyncio.create_task(self._beat(), name="vr-leases")
        return lease

    def _insert(self, name: str, connection: sqlite3.Connection) -> tuple[int, Term] | None:
        term = self._new_term()
        now = term.wall - self.lease_s
        connection.execute(
            f"DELETE FROM lease WHERE (name = :name AND NOT ({LIVE})) OR expires_at < :old",  # noqa: S608 - constant text
            {"name": name, "now": now, "old": now - KEPT_S},
        )
        added = connection.execute(
            "INSERT INTO lease (name, expires_at) VALUES (?, ?) ON CONFLICT (name) DO NOTHING",
            (name, term.wall),
        )
        return (added.lastrowid or 0, term) if added.rowcount == 1 else None

    def _new_term(self) -> Term:
        # The monotonic clock first: this process must not believe longer than others wait.
        return Term(time.monotonic() + self.lease_s, self.clock() + self.lease_s)

    async def _beat(self) -> None:
        while self._held:
            await asyncio.sleep(self.lease_s / BEATS)
            for lease in [lease for lease in self._held.values() if lease.lost]:
                self._lose(lease)
            tokens = list(self._held)
            with suppress(VrError):  # the next beat tries again; each lease knows its own end
                owned, term = await self._database.run(partial(self._renew, tokens))
                self._extend(tokens, owned, term)

    def _renew(
        self, tokens: Iterable[int], connection: sqlite3.Connection
    ) -> tuple[set[int], Term]:
        term = self._new_term()
        renew = "UPDATE lease SET expires_at = ? WHERE token = ?"
        return {
            token for token in tokens if connection.execute(renew, (term.wall, token)).rowcount
        }, term

    def _extend(self, tokens: Iterable[int], owned: set[int], term: Term) -> None:
        for token in tokens:
            lease = self._held.get(token)
            # Who was told that it is lost is never told otherwise.
            if lease is not None and (token not in owned or lease.lost):
                self._lose(lease)
            elif lease is not None:
                lease.term = term

    def _watch(self, lease: Lease) -> None:
        """Lose it when its time is over, whatever the heartbeat waits for."""
        left = lease.term.monotonic - time.monotonic()
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
