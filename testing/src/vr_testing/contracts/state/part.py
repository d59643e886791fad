"""The base of the contracts of all parts of a state."""

from __future__ import annotations

import time
from abc import ABC, abstractmethod
from collections.abc import Callable
from contextlib import AbstractAsyncContextManager, nullcontext

from vr_kernel.state import State

LEASE_S = 60.0
"""Seconds of a lease in these tests."""
OWNER = "ann"
"""The principal who runs the program in these tests."""


class Clock:
    """Seconds since the epoch, which a test sets."""

    def __init__(self) -> None:
        self.now = time.time()

    def __call__(self) -> float:
        """Return the moment."""
        return self.now


class PartContract(ABC):
    """Tests of a part of a state, for pytest with asyncio's auto mode.

    A subclass says how a state is opened; each test opens its own, which is empty.
    """

    @abstractmethod
    def opened(
        self, clock: Callable[[], float] | None = None
    ) -> AbstractAsyncContextManager[State]:
        """Open an empty state, for the owner `OWNER`; leases last `LEASE_S` seconds by `clock`."""

    def again(self, state: State) -> AbstractAsyncContextManager[State]:
        """Open an open state once more, as another process does; by default it is the same."""
        return nullcontext(state)
