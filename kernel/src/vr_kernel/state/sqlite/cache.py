"""Cached results in a SQLite file."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Callable, Collection, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.state.cache import CacheEntry, CacheFind, CacheRow, CacheStats, UselessRow
from vr_kernel.state.sqlite.table_file import TableFile
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.sound_rows import is_sound, is_text

if TYPE_CHECKING:
    from vr_kernel.state.sqlite.fenced import Work

BRIEFLY_S = 1.0
"""Seconds that a reader waits for a lock before it skips cleaning up."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS result (
    key TEXT PRIMARY KEY,
    value TEXT NOT NULL,
    checksum TEXT NOT NULL,
    content_id TEXT NOT NULL,
    tool TEXT NOT NULL,
    model TEXT NOT NULL,
    cached_at REAL NOT NULL
);
"""


class SqliteCache(TableFile):
    """The cached results of one workspace in one file; see `CacheTable`.

    Args:
        path, tell, patience: as `TableFile`.
        ledger: the file of leases, for fences; None for a cache that stands alone.
    """

    schema = _SCHEMA

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
        ledger: Path | None = None,
    ) -> None:
        super().__init__(path, tell, patience)
        self._ledger = ledger

    async def find(self, keys: Sequence[str], since: float) -> CacheFind:
        """Find the first of these keys that has a sound value, put after that time."""
        return await self.database.look(partial(self._find, keys, since))

    async def put(
        self,
        row: CacheRow,
        *,
        unless_since: float | None = None,
        paid: bool = False,
        fence: int | None = None,
    ) -> None:
        """Keep a result."""
        key, text = row.key, json.dumps(row.value, ensure_ascii=False)
        names = (row.content_id, row.tool, row.model)
        values = (key, text, _checksum(key, text), *names, row.cached_at)

        def write(connection: sqlite3.Connection) -> None:
            if unless_since is None or _kept(connection, key, unless_since)[1] is None:
                connection.execute("INSERT OR REPLACE INTO result VALUES (?,?,?,?,?,?,?)", values)

        work: Work[None] = write
        if fence is not None and self._ledger is not None:
            from vr_kernel.state.sqlite.fenced import fenced

            work = fenced(write, self.database, self._ledger, fence)
        await (self.database.keep(work, None) if paid else self.database.run(work))

    async def move(self, key: str, to: str) -> None:
        """Keep a row under another key, without a change of its time."""

        def write(connection: sqlite3.Connection) -> None:
            for (text,) in connection.execute("SELECT value FROM result WHERE key = ?", (key,)):
                if not (isinstance(text, str) and is_text(text)):
                    return
                connection.execute(
                    "UPDATE OR REPLACE result SET key = ?, checksum = ? WHERE key = ?",
                    (to, _checksum(to, text), key),
                )
                return

        await self.database.run(write)

    async def delete(self, key: str) -> None:
        """Remove one row."""
        await self._delete("key = ?", key)

    async def remove(self, useless: Sequence[UselessRow]) -> None:
        """Remove rows, unless they were replaced meanwhile; waits for no other process for long."""

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany("DELETE FROM result WHERE key = ? AND cached_at IS ?", useless)

        await self.database.run(write, wait_s=BRIEFLY_S)

    async def clear(self, content_id: str | None = None) -> int:
        """Remove every row, or those of one content; returns how many."""
        return await (self._delete("content_id = ?", content_id) if content_id else self._delete())

    async def forget_naming(self, names: Collection[str]) -> None:
        """Remove every row whose value names one of these artifacts.

        All rows are read by a connection of its own, so that nobody waits for that.
        """
        from vr_kernel.state.sqlite.cached_rows import forget_results

        await asyncio.to_thread(forget_results, self.path, {*names})

    async def entries(self, limit: int, content_id: str | None = None) -> list[CacheEntry]:
        """List the newest rows, damaged ones among them."""

        def read(connection: sqlite3.Connection) -> list[CacheEntry]:
            rows = connection.execute(
                "SELECT content_id, tool, model, cached_at, length(value) FROM result"
                " WHERE ? IS NULL OR content_id = ? ORDER BY cached_at DESC LIMIT ?",
                (content_id, content_id, limit),
            )
            return [_listed(row) for row in rows]

        return await self.database.read(read)

    async def stats(self) -> CacheStats:
        """Count the rows and their size."""

        def read(connection: sqlite3.Connection) -> CacheStats:
            row = connection.execute("SELECT count(*), total(length(value)) FROM result").fetchone()
            return CacheStats(int(row[0]), int(row[1]))

        return await self.database.read(read)

    async def check(self) -> None:
        """Check that a row could be kept now, without keeping one."""
        await self.database.run(lambda _connection: None)

    def _find(self, keys: Sequence[str], since: float, connection: sqlite3.Connection) -> CacheFind:
        found = CacheFind()
        for key in keys:
            row, value = _kept(connection, key, since)
            if value is not None:
                found.key, found.value = key, value
                break
            if row:
                found.useless.append(UselessRow(key, row[2]))
                if _is_fresh(row[2], since):
                    self.database.leave_out("result", key)
        return found

    async def _delete(self, where: str = "true", *values: object) -> int:
        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(f"DELETE FROM result WHERE {where}", values).rowcount  # noqa: S608 - constant text

        return await self.database.run(delete)


def _kept(
    connection: sqlite3.Connection, key: str, since: float
) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
    """The row of a key, and its value if it is sound and fresh."""
    row = connection.execute(
        "SELECT value, checksum, cached_at FROM result WHERE key = ?", (key,)
    ).fetchone()
    return row, _checked(key, row, since) if row else None


def _checked(key: str, row: Sequence[Any], since: float) -> dict[str, Any] | None:
    text, checksum, cached_at = row
    try:
        whole = checksum == _checksum(key, text)
        value = json.loads(text) if _is_fresh(cached_at, since) and whole else None
    except (TypeError, ValueError, AttributeError):
        return None
    return value if isinstance(value, dict) else None


def _is_fresh(cached_at: Any, since: float) -> bool:
    """True for a time that is recent enough; what is no time counts as now."""
    return (cached_at if isinstance(cached_at, int | float) else time.time()) > since


def _listed(row: Sequence[Any]) -> CacheEntry:
    """An entry, even for a damaged row, so that it can be cleared."""
    content, tool, model = (it if is_sound((it,), (str,)) else "(damaged)" for it in row[:3])
    moment, size = (it if isinstance(it, int | float) else 0 for it in row[3:])
    return CacheEntry(content, tool, model, moment, int(size))


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()
