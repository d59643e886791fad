"""A lease: a name that this process owns until it is released or lost."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Callable
from dataclasses import dataclass, field

from vr_kernel.errors import Code, VrError
from vr_kernel.state.leases import LEASE_LOST


@dataclass(eq=False)
class Lease:
    """A name that this process owns until it is released or lost.

    Attributes:
        name: what is owned.
        token: rises with every change of owner, so that a late writer can be detected.
        lost_event: set, in the event loop, when the lease is lost; never by a release.
        unfinished: the result lacks something, and is to be made again from its steps.
        term_s: seconds for which it stays this process's own when the process falls silent.
        ends_at, clock, over, timer: kept by `LedgerLeases`.
    """

    name: str
    token: int
    ends_at: float = field(repr=False)
    clock: Callable[[], float] = field(repr=False)
    term_s: float = field(default=math.inf, repr=False)
    lost_event: asyncio.Event = field(default_factory=asyncio.Event, repr=False)
    over: bool = field(default=False, repr=False)
    unfinished: bool = field(default=False, repr=False)
    timer: asyncio.TimerHandle | None = field(default=None, repr=False)

    @property
    def lost(self) -> bool:
        """True when another process may own the name by now; safe to read from any thread."""
        return self.over or self.clock() >= self.ends_at

    def check(self) -> None:
        """Raise `lease_lost` when this process no longer owns the name."""
        if self.lost:
            raise lease_lost(self)


def lease_lost(lease: Lease) -> VrError:
    """The error of work that another process may have taken over."""
    return VrError(
        f"This process no longer owns {lease.name}.",
        Code.CONFLICT,
        category=LEASE_LOST,
        hint="Another process may go on with it. Ask for its state, or call again.",
        retryable=True,
    )


def was_lost(lease: Lease, error: BaseException) -> bool:
    """Say if work failed because another process has taken it over, or may have."""
    return lease.lost or (isinstance(error, VrError) and error.category == LEASE_LOST)
