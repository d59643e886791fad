"""Results of pure analyses, kept between runs and shared by processes."""

from __future__ import annotations

import hashlib
import json
import math
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from vr_kernel.errors import VrError
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.sound_rows import is_sound, is_text

if TYPE_CHECKING:
    from vr_kernel.storage.cached_model import CachedModel

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
SECONDS_PER_DAY = 86_400
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


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cached result, as `infra_cache` lists it; times in seconds since the epoch."""

    content_id: str
    tool: str
    model: str
    cached_at: float
    size: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Count of the results that the cache holds, and their size in bytes."""

    entries: int
    size: int


def cache_key(**parts: Any) -> str:
    """A key made from JSON values; include everything that changes the answer."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()


class ResultCache:
    """JSON values by key, with an age limit. An unreadable value is a miss, never an error.

    Args:
        path: the database file.
        ttl_days: age in days after which a value counts as missing.
        warn: called once when the cache cannot be used.
        tell: called once for each damage found in it.
        patience: with locks, shared with the other files of the program.
    """

    def __init__(
        self,
        path: Path,
        *,
        ttl_days: float,
        warn: Callable[[VrError], None],
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self.path = path
        self.ttl_days = ttl_days
        self._database = KeptDatabase(path, _SCHEMA, disposable=True, tell=tell, patience=patience)
        self._warn = warn
        self._warned = False
        self._shapes: dict[type[BaseModel], str] = {}

    def model(self, key: str, shape: type[M]) -> CachedModel[M]:
        """The place of a result of that shape, with `get`, `put` and `delete`.

        Args:
            key: of `cache_key`, naming everything else that changes the result.
            shape: the model of the result. When it changes, what was kept before is a miss.
        """
        from vr_kernel.storage.cached_model import CachedModel, digest

        known = self._shapes.get(shape)
        if known is None:
            known = self._shapes[shape] = digest(shape)
        return CachedModel(cache_key(key=key, shape=known), key, shape, self)

    async def get(self, key: str) -> dict[str, Any] | None:
        """The value, or None when it is missing, too old or damaged."""
        found = await self.find(key)
        return found[1] if found else None

    async def find(self, *keys: str) -> tuple[str, dict[str, Any]] | None:
        """The first of these keys that has a value, and the value; see `get`."""
        useless: list[tuple[str, Any]] = []

        def read(connection: sqlite3.Connection) -> tuple[str, dict[str, Any]] | None:
            useless.clear()
            for key in keys:
                row, value = self._kept(key, connection)
                if value is not None:
                    return key, value
                if row:
                    useless.append((key, row[2]))
                if row and self._is_fresh(row[2]):
                    self._database.leave_out("result", key)
            return None

        found = await self._attempt(self._database.look(read), None)
        for key, cached_at in useless:
            await self._forget("key = ? AND cached_at IS ?", key, cached_at, wait_s=BRIEFLY_S)
        return found

    async def move(self, key: str, to: str) -> None:
        """Keep a value under another key, without a change of its age."""

        def write(connection: sqlite3.Connection) -> None:
            for (text,) in connection.execute("SELECT value FROM result WHERE key = ?", (key,)):
                if not (isinstance(text, str) and is_text(text)):
                    return
                connection.execute(
                    "UPDATE OR REPLACE result SET key = ?, checksum = ? WHERE key = ?",
                    (to, _checksum(to, text), key),
                )
                return

        await self._attempt(self._database.run(write), None)

    async def set(
        self,
        key: str,
        value: dict[str, Any],
        *,
        content_id: str = "",
        tool: str = "",
        model: str = "",
        over: bool = True,
        paid: bool = False,
    ) -> None:
        """Keep a value; the names are for `infra_cache` to list and clear by.

        A value with the name of a model was `paid` for: while there is no room, it is held in
        memory. Without `over`, an existing sound value is kept.
        """
        text = json.dumps(value, ensure_ascii=False)
        row = (key, text, _checksum(key, text), content_id, tool, model, time.time())

        def write(connection: sqlite3.Connection) -> None:
            if over or self._kept(key, connection)[1] is None:
                connection.execute("INSERT OR REPLACE INTO result VALUES (?,?,?,?,?,?,?)", row)

        keep = paid or model
        work = self._database.keep(write, None) if keep else self._database.run(write)
        await self._attempt(work, None)

    async def delete(self, key: str) -> None:
        """Forget one value."""
        await self._forget("key = ?", key)

    async def clear(self, content_id: str | None = None) -> int:
        """Forget everything, or what belongs to one content; returns how many."""
        return await (self._forget("content_id = ?", content_id) if content_id else self._forget())

    async def entries(self, limit: int, content_id: str | None = None) -> list[CacheEntry]:
        """The newest entries."""

        def read(connection: sqlite3.Connection) -> list[CacheEntry]:
            rows = connection.execute(
                "SELECT content_id, tool, model, cached_at, length(value) FROM result"
                " WHERE ? IS NULL OR content_id = ? ORDER BY cached_at DESC LIMIT ?",
                (content_id, content_id, limit),
            )
            return [_listed(row) for row in rows]

        return await self._attempt(self._database.read(read), [])

    async def stats(self) -> CacheStats:
        """Count the results and their size."""

        def read(connection: sqlite3.Connection) -> CacheStats:
            row = connection.execute("SELECT count(*), total(length(value)) FROM result").fetchone()
            return CacheStats(int(row[0]), int(row[1]))

        return await self._attempt(self._database.read(read), CacheStats(0, 0))

    async def check(self) -> None:
        """Check that a value could be kept now, without keeping one.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when it could not.
        """
        await self._database.run(lambda _connection: None)

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    def _kept(
        self, key: str, connection: sqlite3.Connection
    ) -> tuple[tuple[Any, ...] | None, dict[str, Any] | None]:
        """The row of a key, and its value if it is sound and fresh."""
        row = connection.execute(
            "SELECT value, checksum, cached_at FROM result WHERE key = ?", (key,)
        ).fetchone()
        return row, self._checked(key, *row) if row else None

    async def _forget(self, where: str = "true", *values: object, wait_s: float = math.inf) -> int:
        def forget(connection: sqlite3.Connection) -> int:
            return connection.execute(f"DELETE FROM result WHERE {where}", values).rowcount  # noqa: S608 - constant text

        return await self._attempt(self._database.run(forget, wait_s=wait_s), 0)

    async def _attempt(self, work: Awaitable[T], otherwise: T) -> T:
        try:
            return await work
        except VrError as error:
            if not self._warned:
                self._warned = True
                self._warn(error)
            return otherwise

    def _checked(self, key: str, text: Any, checksum: Any, cached_at: Any) -> dict[str, Any] | None:
        try:
            whole = checksum == _checksum(key, text)
            value = json.loads(text) if self._is_fresh(cached_at) and whole else None
        except (TypeError, ValueError, AttributeError):
            return None
        return value if isinstance(value, dict) else None

    def _is_fresh(self, cached_at: Any) -> bool:
        """True for a time that is recent enough; False for what is no time."""
        age = time.time() - cached_at if isinstance(cached_at, int | float) else 0.0
        return age < self.ttl_days * SECONDS_PER_DAY


def _listed(row: Sequence[Any]) -> CacheEntry:
    """An entry, even for a damaged row, so that it can be cleared."""
    content, tool, model = (it if is_sound((it,), (str,)) else "(damaged)" for it in row[:3])
    moment, size = (it if isinstance(it, int | float) else 0 for it in row[3:])
    return CacheEntry(content, tool, model, moment, int(size))


def _checksum(key: str, text: str) -> str:
    return hashlib.sha256(f"{key}\n{text}".encode()).hexdigest()
