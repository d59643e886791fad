"""Leases: which process owns which name, and the table that says so."""

from __future__ import annotations

import time
from collections.abc import Callable, Collection
from typing import Protocol

from vr_kernel.errors import Code, VrError

LEASE_LOST = "LEASE_LOST"
"""Category of the error of work that another process owns by now."""


class LeaseTable(Protocol):
    """Names, each owned by one process at a time, until it gives it back or is silent too long.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.

    Attributes:
        lease_s: seconds until a silent owner counts as dead; the same for all owners.
        clock: seconds since the epoch, the same for all processes.
        steady: a monotonic clock, in seconds, by which an owner measures its own term.
    """

    lease_s: float
    clock: Callable[[], float]
    steady: Callable[[], float]

    async def take(self, name: str, returned: Collection[int] = ()) -> tuple[int, float] | None:
        """Own a name: its token and the end of its term by `steady`; None while it is owned.

        Tokens rise. The term is counted from before it was written, so that the owner never counts
        on it longer than others wait.

        Args:
            name: what to own.
            returned: tokens of leases that could not be released before.
        """

    async def is_owned(self, name: str) -> bool:
        """Check if some process owns a name, without owning it."""

    async def renew(self, tokens: Collection[int]) -> tuple[set[int], float]:
        """Begin a new term of leases: the tokens that are still there, and the end of the term."""

    async def release(self, tokens: Collection[int], scope: str = "") -> None:
        """Give leases back; with `scope`, the steps of a finished work are removed as well.

        Not by one whose lease is gone: they are its successor's.
        Does not wait long for other processes: a lease that is not released ends by itself.
        """


def fenced_off() -> VrError:
    """The error of a write whose lease is gone."""
    return VrError(
        "Another process owns this work by now.",
        Code.CONFLICT,
        category=LEASE_LOST,
        hint="It goes on with it. Ask for its state, or call again.",
        retryable=True,
    )


def steady_clock() -> float:
    """Seconds of a monotonic clock; where possible it runs while the computer sleeps."""
    clock = getattr(time, "CLOCK_BOOTTIME", None)
    return time.monotonic() if clock is None else time.clock_gettime(clock)
