"""Cached results in the memory of one process."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Callable, Collection, Sequence
from pathlib import Path

from vr_kernel.state import CacheEntry, CacheFind, CacheRow, CacheStats, UselessRow
from vr_kernel.state.leases import fenced_off


class MemoryCache:
    """The cached results of one workspace; see `vr_kernel.state.CacheTable`."""

    def __init__(self, owns: Callable[[int | None], bool] = lambda _token: True) -> None:
        """`owns` says if the lease of a token is there."""
        self._owns = owns
        self.path: Path | None = None
        self._rows: dict[str, tuple[CacheRow, str]] = {}

    async def find(self, keys: Sequence[str], since: float) -> CacheFind:
        """Find the first of these keys that has a value, put after that time."""
        found = CacheFind()
        for row, text in (self._rows[key] for key in keys if key in self._rows):
            if row.cached_at > since:
                found.key, found.value = row.key, json.loads(text)
                break
            found.useless.append(UselessRow(row.key, row.cached_at))
        return found

    async def put(
        self,
        row: CacheRow,
        *,
        unless_since: float | None = None,
        paid: bool = False,
        fence: int | None = None,
    ) -> None:
        """Keep a result."""
        del paid
        text = json.dumps(row.value, ensure_ascii=False)
        for name in (row.key, text, row.content_id, row.tool, row.model):
            name.encode()
        await asyncio.sleep(0)  # others come first, as they may where there is a file
        if not self._owns(fence):
            raise fenced_off()
        known = self._rows.get(row.key)
        if unless_since is None or known is None or known[0].cached_at <= unless_since:
            self._rows[row.key] = row, text

    async def move(self, key: str, to: str) -> None:
        """Keep a row under another key, without a change of its time."""
        if key in self._rows:
            row, text = self._rows.pop(key)
            self._rows[to] = row._replace(key=to), text

    async def delete(self, key: str) -> None:
        """Remove one row."""
        self._rows.pop(key, None)

    async def remove(self, useless: Sequence[UselessRow]) -> None:
        """Remove rows, unless they were replaced meanwhile."""
        for key, cached_at in useless:
            if key in self._rows and self._rows[key][0].cached_at == cached_at:
                del self._rows[key]

    async def clear(self, content_id: str | None = None) -> int:
        """Remove every row, or those of one content; returns how many."""
        gone = [
            key for key, (row, _) in self._rows.items() if content_id in (None, "", row.content_id)
        ]
        for key in gone:
            del self._rows[key]
        return len(gone)

    async def forget_naming(self, names: Collection[str]) -> None:
        """Remove every row whose value names one of these artifacts."""
        for key, (_, text) in [*self._rows.items()]:
            if any(name in text for name in names):
                del self._rows[key]

    async def entries(self, limit: int, content_id: str | None = None) -> list[CacheEntry]:
        """List the newest rows."""
        found = [it for it in self._rows.values() if content_id in (None, it[0].content_id)]
        found.sort(key=lambda it: it[0].cached_at, reverse=True)
        return [
            CacheEntry(row.content_id, row.tool, row.model, row.cached_at, len(text))
            for row, text in found[:limit]
        ]

    async def stats(self) -> CacheStats:
        """Count the rows and their size."""
        return CacheStats(len(self._rows), sum(len(text) for _, text in self._rows.values()))

    async def check(self) -> None:
        """Check nothing: memory can always be written."""

    def close(self) -> None:
        """Do nothing: what is kept stays."""
