"""The state of a kernel: SQLite files and plain memory keep the same contract."""

from __future__ import annotations

import asyncio
import sqlite3
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from vr_kernel.config.paths import Paths
from vr_kernel.log import Log
from vr_kernel.state import CachePut, CacheRow, CallEnd, Entry, State
from vr_kernel.state.sqlite.state import SqliteState
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.room import Rooms
from vr_testing import MemoryState, StateContract
from vr_testing.contracts.state.part import LEASE_S, OWNER, Clock


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


async def test_an_owner_that_is_followed_while_its_end_is_written_replaces_no_result() -> None:
    clock = Clock()
    state = MemoryState(LEASE_S, clock)
    late, _ = await state.leases.take("work") or (0, 0)
    clock.now += LEASE_S + 1
    end = CallEnd(cache=[CachePut(CacheRow("key", {"by": "late"}))], fence=late, leases=[late])
    done, taken = await asyncio.gather(state.finish(end), state.leases.take("work"))
    assert taken
    assert not done.owned
    assert (await state.cache().stats()).entries == 0


async def test_entries_that_had_to_wait_are_written_after_their_call_gave_its_lease_back(
    tmp_path: Path,
) -> None:
    """They were their owner's when they were made: the fence is for those that come too late."""
    paths = Paths(*(tmp_path / name for name in ("config", "state", "cache")))
    patience = Patience(0.2)
    rooms = Rooms(Log("error", "console"))
    patience.room_of = rooms.of
    with closing(SqliteState(paths, lease_s=LEASE_S, patience=patience)) as state:
        await state.journal.commit([Entry("Notes", "a", {})], workspace="w", provenance={})
        token, _ = await state.leases.take("job") or (0, 0)
        with closing(sqlite3.connect(paths.journal, isolation_level=None)) as other:
            other.execute("BEGIN EXCLUSIVE")
            late: dict[str, Any] = {"workspace": "w", "provenance": {}, "paid": True}
            await state.journal.commit([Entry("Notes", "b", {})], fence=token, **late)
            assert state.is_holding
            await state.leases.release([token])
        await state.journal.commit([Entry("Notes", "c", {})], workspace="w", provenance={})
        assert await state.journal.keys("Notes", "w") == ["a", "b", "c"]
    rooms.close()
