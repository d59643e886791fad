"""Live and dead owners of leases, as another process tells them apart, whatever the clocks do."""

from __future__ import annotations

import json
import math
import sqlite3
import time
from collections.abc import Callable

LONGEST_S = 660.0
"""No lease is longer: the owner of one that seems to be died before the clock was set back."""
MOST_SEEN = 10_000
"""Leases of others that are remembered."""
LOOSE_S = 1.0
"""A clock that differs by more from the steady one was set."""


def steady_clock() -> float:
    """Seconds of a clock that nobody sets; where possible it runs while the computer sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)


class Watch:
    """Tells live leases from dead ones as somebody else sees them; of one thread.

    A row says when it ends by the wall clock, which may have been set since. So nobody believes
    it who saw the clock being set within the length of a lease, and whose row has not changed for
    so long by the steady clock is dead, whatever it says.

    Args:
        lease_s: as all owners have it.
        clock: seconds since the epoch.
        steady: seconds that nobody sets.
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
        """Say if somebody owns that name."""
        row = connection.execute("SELECT token, expires_at FROM lease WHERE name = ?", (name,))
        return any(self._lives(name, *found) for found in row)

    def live_jobs(self, connection: sqlite3.Connection) -> str:
        """The names of all jobs that somebody works on, as a JSON list."""
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
