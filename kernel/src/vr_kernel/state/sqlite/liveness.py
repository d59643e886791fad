"""Live and dead owners of leases, told apart by another process even when clocks are changed."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable

from vr_kernel.state.leases import steady_clock

LONGEST_S = 660.0
"""Longest lease in seconds. If one seems longer, its owner died before the clock was set back."""
MOST_SEEN = 10_000
"""Maximum number of leases of others that are remembered."""
LOOSE_S = 1.0
"""Drift from the steady clock, in seconds, from which the wall clock counts as having been set."""


class Watch:
    """Tells live leases of other processes from dead ones; for use in one thread.

    A row holds the end of a lease by the wall clock, which may have been set since. So that end is
    ignored if the clock was set within the length of a lease. An owner whose row has not changed
    for that long by the steady clock is dead, whatever the row says.

    Args:
        lease_s: the length of a lease, the same for all owners.
        clock: seconds since the epoch.
        steady: a monotonic clock, in seconds.
    """

    def __init__(
        self,
        lease_s: float,
        clock: Callable[[], float] = time.time,
        steady: Callable[[], float] = steady_clock,
    ) -> None:
        self._lease_s = lease_s
        self._clock = clock
        self._steady = steady
        self._difference = clock() - steady()
        self._set_at = -math.inf
        self._seen: dict[str, tuple[int, float, float]] = {}

    def is_live(self, connection: sqlite3.Connection, name: str) -> bool:
        """Say if that name is owned."""
        row = connection.execute("SELECT token, expires_at FROM lease WHERE name = ?", (name,))
        return any(self._lives(name, *found) for found in row)

    def live_jobs(self, connection: sqlite3.Connection) -> str:
        """The lease names of all jobs with a live owner, as a JSON list."""
        rows = connection.execute(
            "SELECT name, token, expires_at FROM lease WHERE name >= 'job/' AND name < 'job0'"
        )
        return json.dumps([row[0] for row in rows if self._lives(*row)])

    def was_set(self) -> bool:
        """Say if the wall clock was set within the length of a lease."""
        moment = self._steady()
        before, self._difference = self._difference, self._clock() - moment
        if abs(self._difference - before) > min(LOOSE_S, self._lease_s / 4):
            self._set_at = moment
        return moment - self._set_at < self._lease_s

    def _lives(self, name: str, token: int, expires_at: float) -> bool:
        moment, now = self._steady(), self._clock()
        seen = self._seen.get(name, (0, 0.0, 0.0))
        if seen[:2] != (token, expires_at):
            if len(self._seen) >= MOST_SEEN:
                self._seen.clear()
            seen = self._seen[name] = (token, expires_at, moment)
        if moment - seen[2] >= self._lease_s:
            return False
        return self.was_set() or now < expires_at < now + LONGEST_S


def owns(connection: sqlite3.Connection, token: int) -> bool:
    """True, inside a transaction, when no other process took the lease of that token."""
    row = connection.execute("SELECT 1 FROM lease WHERE token = ?", (token,)).fetchone()
    return row is not None
