"""The table of cached results, in a SQLite file and in memory."""

from __future__ import annotations

from vr_kernel.calls.result_cache import ResultCache
from vr_testing.memory_state.cache import MemoryCache


async def test_a_cache_needs_no_file() -> None:
    """Paid answers need room in a folder only where there is one."""
    cache = ResultCache(MemoryCache(), ttl_days=1, warn=lambda _error: None)
    await cache.set("a", {"n": 1}, model="m")
    assert await cache.get("a") == {"n": 1}
    assert cache.folder is None
    cache.ttl_days = 0
    assert await cache.get("a") is None
    assert (await cache.stats()).entries == 0
