"""A whole state in the memory of one process."""

from __future__ import annotations

import time
from collections.abc import Callable

from vr_kernel.state.call_end import CallEnd, Finished
from vr_kernel.state.finishing import finish_in_order
from vr_kernel.state.signals import LocalSignals

from vr_testing.memory_state.cache import MemoryCache
from vr_testing.memory_state.journal import MemoryJournal
from vr_testing.memory_state.ledger import MemoryLedger
from vr_testing.memory_state.limits import MemoryLimits
from vr_testing.memory_state.rows import MemoryRows
from vr_testing.memory_state.usage import MemoryUsage
from vr_testing.memory_state.vectors import MemoryVectors


class MemoryState(MemoryLedger):
    """Everything that a kernel keeps, in memory; see `vr_kernel.state.State`.

    Args:
        lease_s: seconds until a silent owner counts as dead.
        clock: seconds since the epoch.
    """

    def __init__(self, lease_s: float = 60.0, clock: Callable[[], float] = time.time) -> None:
        super().__init__(lease_s, clock)
        self.limits = MemoryLimits(self.leases)
        self.signals = LocalSignals()
        self.journal = MemoryJournal(self.leases.owns)
        self.rows = MemoryRows(clock)
        self.usage = MemoryUsage(clock)
        self.vectors = MemoryVectors()
        self._caches: dict[str, MemoryCache] = {}

    def cache(self, workspace: str = "") -> MemoryCache:
        """Results of a workspace; the owner's when it is not named."""
        return self._caches.setdefault(workspace, MemoryCache(self.leases.owns))

    is_holding = False
    """Nothing waits to be written."""

    async def finish(self, end: CallEnd) -> Finished:
        """Write everything that the end of a call writes."""
        return await finish_in_order(self, end)

    def close(self) -> None:
        """Do nothing: the state ends with its process."""
