"""The state of a kernel: SQLite files and plain memory keep the same contract."""

from __future__ import annotations

import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from vr_kernel.config.paths import Paths
from vr_kernel.state import State
from vr_kernel.state.sqlite.state import SqliteState
from vr_testing import MemoryState, StateContract
from vr_testing.contracts.state.part import LEASE_S, OWNER


class TestMemoryState(StateContract):
    """A state in memory."""

    @asynccontextmanager
    async def opened(self, clock: Callable[[], float] | None = None) -> AsyncIterator[State]:
        """Open an empty state."""
        yield MemoryState(LEASE_S, clock or time.time)


class TestSqliteState(StateContract):
    """A state in files."""

    @asynccontextmanager
    async def opened(self, clock: Callable[[], float] | None = None) -> AsyncIterator[State]:
        """Open an empty state."""
        clocks: Any = {"clock": clock, "steady": clock} if clock else {}
        with tempfile.TemporaryDirectory() as folder:
            self.paths = Paths(*(Path(folder) / name for name in ("config", "state", "cache")))
            with closing(SqliteState(self.paths, lease_s=LEASE_S, owner=OWNER, **clocks)) as state:
                yield state

    @asynccontextmanager
    async def again(self, state: State) -> AsyncIterator[State]:
        """Open the same files once more."""
        with closing(SqliteState(self.paths, lease_s=LEASE_S, owner=OWNER)) as other:
            yield other
