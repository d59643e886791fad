"""The table of cached results, in a SQLite file and in memory."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path

from vr_kernel.calls.result_cache import ResultCache
from vr_kernel.state import CacheTable
from vr_kernel.state.sqlite.cache import SqliteCache
from vr_testing import CacheContract, MemoryCache


class TestMemoryCache(CacheContract):
    """Results in memory."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[CacheTable]:
        """Open an empty table."""
        yield MemoryCache()


class TestSqliteCache(CacheContract):
    """Results in a file."""

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[CacheTable]:
        """Open an empty table."""
        with (
            tempfile.TemporaryDirectory() as folder,
            closing(SqliteCache(Path(folder) / "results.db")) as table,
        ):
            yield table


async def test_a_cache_needs_no_file() -> None:
    """Paid answers need room in a folder only where there is one."""
    cache = ResultCache(MemoryCache(), ttl_days=1, warn=lambda _error: None)
    await cache.set("a", {"n": 1}, model="m")
    assert await cache.get("a") == {"n": 1}
    assert cache.folder is None
    cache.ttl_days = 0
    assert await cache.get("a") is None
    assert (await cache.stats()).entries == 0
