"""Leases in a SQLite file."""

from __future__ import annotations

import math
import sqlite3
import time
from collections.abc import Callable, Collection, Iterable
from functools import partial

from vr_kernel.state.leases import steady_clock
from vr_kernel.state.sqlite.liveness import Watch, owns
from vr_kernel.storage.kept_database import KeptDatabase

KEPT_S = 86_400
"""Rows of dead owners are removed after this time."""
RELEASE_WAIT_S = 2.0
"""Seconds that a release waits for another process; a lease that is not released expires."""


class SqliteLeases:
    """The leases in the ledger; see `LeaseTable`.

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
        self.steady = steady
        self.watch = Watch(lease_s, clock, steady)
        self._database = database

    async def take(self, name: str, returned: Collection[int] = ()) -> tuple[int, float] | None:
        """Own a name: its token and the end of its term by `steady`; None while it is owned."""
        return await self._database.run(partial(self._insert, name, returned))

    async def is_owned(self, name: str) -> bool:
        """Check if some process owns a name, without owning it."""
        return await self._database.read(partial(self.watch.is_live, name=name))

    async def renew(self, tokens: Collection[int]) -> tuple[set[int], float]:
        """Begin a new term of leases: the tokens that are still there, and the end of the term."""
        return await self._database.insist(partial(self._renew, tokens))

    async def release(self, tokens: Collection[int], scope: str = "") -> None:
        """Give leases back; with `scope`, the steps of a finished work are removed as well."""
        delete = partial(_delete, tokens=tokens, scope=scope)
        await self._database.run(delete, wait_s=RELEASE_WAIT_S)

    def _insert(
        self, name: str, returned: Collection[int], connection: sqlite3.Connection
    ) -> tuple[int, float] | None:
        _delete(connection, returned)
        if self.watch.is_live(connection, name):
            return None
        # The steady clock first: this process must not count on a lease longer than others wait.
        ends_at, now = self.steady() + self.lease_s, self.clock()
        old = -math.inf if self.watch.was_set() else now - KEPT_S
        connection.execute("DELETE FROM lease WHERE name = ? OR expires_at < ?", (name, old))
        added = connection.execute(
            "INSERT INTO lease (name, expires_at) VALUES (?, ?)", (name, now + self.lease_s)
        )
        return added.lastrowid or 0, ends_at

    def _renew(self, tokens: Iterable[int], it: sqlite3.Connection) -> tuple[set[int], float]:
        ends_at, wall = self.steady() + self.lease_s, self.clock() + self.lease_s
        renew = "UPDATE lease SET expires_at = ? WHERE token = ?"
        owned = {each for each in tokens if it.execute(renew, (wall, each)).rowcount}
        return owned, ends_at


def _delete(connection: sqlite3.Connection, tokens: Iterable[int], scope: str = "") -> None:
    if scope and any(owns(connection, token) for token in tokens):
        connection.execute("DELETE FROM step WHERE scope = ?", (scope,))
    connection.executemany("DELETE FROM lease WHERE token = ?", [(token,) for token in tokens])
