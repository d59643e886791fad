"""The state of a kernel: SQLite files and plain memory keep the same contract."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.state import State
from vr_kernel.state.sqlite.state import SqliteState
from vr_testing import Clock, MemoryState, StateContract
from vr_testing.contracts.state.part import LEASE_S


class TestMemoryState(StateContract):
    """A state in memory."""

    @asynccontextmanager
    async def opened(self, clock: Clock | None = None) -> AsyncIterator[State]:
        """Open an empty state."""
        yield MemoryState(LEASE_S, clock or time.time)


class TestSqliteState(StateContract):
    """A state in files."""

    @asynccontextmanager
    async def opened(self, clock: Clock | None = None) -> AsyncIterator[State]:
        """Open an empty state."""
        how = {"lease_s": LEASE_S, "owner": "me"}
        with tempfile.TemporaryDirectory() as folder:
            paths = Paths(*(Path(folder) / name for name in ("config", "state", "cache")))
            state = SqliteState(
                paths, **how, **({"clock": clock, "steady": clock} if clock else {})
            )
            with closing(state):
                yield state
