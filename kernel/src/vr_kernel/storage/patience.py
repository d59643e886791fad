"""Patience with locks: the time that the files of one program wait for other processes."""

from __future__ import annotations

import math
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from vr_kernel.storage.room import RoomOf


WAIT_S = 10.0
"""Seconds to wait for locks that other processes hold."""
CLOSE_WAIT_S = 2.0
"""The same for a program that ends."""
BRIEF_S = 0.25
"""The same once a lock has been held for `WAIT_S`: its holder is suspended."""
STEP_S = 1.0
"""Maximum seconds counted between two tries: in a longer time this process was suspended."""


@dataclass(slots=True)
class Wait:
    """A wait for a lock: its limit, the time of the last check, and the counted seconds so far."""

    most_s: float
    seen: float
    waited_s: float = 0.0


class Patience:
    """Time that all files of one program together wait for locks of other processes.

    After a full wait for one file, the wait for the next one is shorter, since a suspended process
    may hold several. Time in which this process itself was suspended does not count.

    Args:
        wait_s: seconds to wait, for all files together.
        clock: a monotonic clock, in seconds.
        step_s: the most that is counted of the time between two tries.
    """

    def __init__(
        self,
        wait_s: float = WAIT_S,
        clock: Callable[[], float] = time.monotonic,
        step_s: float = STEP_S,
    ) -> None:
        self.wait_s = wait_s
        self.clock = clock
        self.room_of: RoomOf | None = None  # finds disk space for paid results
        self._step_s = step_s
        self._locked: dict[Path, tuple[float, float]] = {}

    def hurry(self) -> None:
        """Wait less from now on: the program ends."""
        self.wait_s = min(self.wait_s, CLOSE_WAIT_S)

    def begin(self, most_s: float = math.inf) -> Wait:
        """Begin to wait, for `most_s` at most."""
        return Wait(most_s, self.clock())

    def found_locked(self, path: Path) -> None:
        """Note that another process holds that file now."""
        now = self.clock()
        self._locked[path] = (min(self._since(path, now), now), now)

    def found_free(self, path: Path) -> None:
        """Note that no other process holds that file any more."""
        self._locked.pop(path, None)

    def is_over(self, wait: Wait) -> bool:
        """True when the wait was long enough; called at each try."""
        now = self.clock()
        if now - wait.seen > self._step_s:
            self._locked.clear()
        wait.waited_s += min(now - wait.seen, self._step_s)
        wait.seen = now
        first = min((self._since(path, now) for path in [*self._locked]), default=now)
        allowed = max(first + self.wait_s - now + wait.waited_s, BRIEF_S)
        return wait.waited_s >= min(wait.most_s, self.wait_s, allowed)

    def _since(self, path: Path, now: float) -> float:
        """The moment since which the file has been seen locked."""
        since, seen = self._locked.get(path, (now, now))
        return since if now - seen < self.wait_s else now
