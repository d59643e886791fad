"""The memory of what the Gemini API keeps for us: uploaded files and context caches, in SQLite."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Awaitable
from pathlib import Path
from typing import TypeVar

from pydantic import BaseModel

from vr_kernel.errors import VrError
from vr_kernel.generation import Usage
from vr_kernel.log import Log
from vr_kernel.storage.database_errors import told_by
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.sound_rows import is_sound

T = TypeVar("T")
_Row = tuple[object, ...]
_SCHEMA = """
CREATE TABLE IF NOT EXISTS upload (
    digest TEXT, mime TEXT, account TEXT, uri TEXT, name TEXT, size INTEGER,
    expires_at REAL, active INTEGER, PRIMARY KEY (digest, mime, account)
);
CREATE TABLE IF NOT EXISTS context (
    content TEXT, model TEXT, system TEXT, account TEXT, name TEXT, content_id TEXT,
    tokens INTEGER, expires_at REAL, PRIMARY KEY (content, model, system, account)
);
CREATE TABLE IF NOT EXISTS refusal (
    content TEXT, model TEXT, system TEXT, until REAL, PRIMARY KEY (content, model, system)
);
"""
_NUMBER = (int, float)
_TYPES: dict[str, tuple[type | tuple[type, ...], ...]] = {
    "upload": (str, str, str, str, str, int, _NUMBER, int),
    "context": (str, str, str, str, str, str, int, _NUMBER),
}


class Upload(BaseModel):
    """A file that the service holds for one account; fields in the order of their table.

    Times are Unix times, in seconds.
    """

    digest: str
    mime: str
    account: str
    uri: str
    name: str
    size: int
    expires_at: float
    active: bool
    """True once the file can be used; the service processes a new file first."""


class ContextCache(BaseModel):
    """A context cache that the service holds for one account; fields in the order of the table."""

    content: str
    """Names what is cached: the content, and the part of it."""
    model: str
    system: str
    """Digest of the system instruction that is cached with it, empty for none."""
    account: str
    name: str
    content_id: str
    """SHA-256 of the file, or the address of an uploaded one."""
    tokens: int
    expires_at: float

    @property
    def usage(self) -> Usage:
        """The cost of making it."""
        return Usage(calls=1, input_tokens=self.tokens)


class KeptAtGemini:
    """The memory of one installation. Without it everything works, only less is reused."""

    def __init__(self, path: Path, log: Log, patience: Patience | None = None) -> None:
        self._database = KeptDatabase(
            path, _SCHEMA, disposable=True, tell=told_by(log), patience=patience
        )
        self._log = log

    async def upload(self, digest: str, mime: str, account: str) -> Upload | None:
        """The live upload of a content for an account."""
        found = await self._uploads(
            "digest = ? AND mime = ? AND account = ?", digest, mime, account
        )
        return found[0] if found else None

    async def upload_at(self, uri: str) -> Upload | None:
        """The live upload of that address."""
        found = await self._uploads("uri = ?", uri)
        return found[0] if found else None

    async def uploads_of(self, digest: str) -> list[Upload]:
        """The live uploads of a content, for every account."""
        return await self._uploads("digest = ?", digest)

    async def keep_upload(self, upload: Upload) -> None:
        """Remember an upload, instead of an earlier one."""
        await self._write(
            "INSERT OR REPLACE INTO upload VALUES (?,?,?,?,?,?,?,?)",
            *upload.model_dump().values(),
        )

    async def forget_upload(self, uri: str) -> None:
        """Forget an upload that the service no longer has."""
        await self._write("DELETE FROM upload WHERE uri = ?", uri)

    async def context(self, content: str, model: str, system: str) -> list[ContextCache]:
        """The live caches of a content, for every account."""
        return await self._contexts(
            "content = ? AND model = ? AND system = ?", content, model, system
        )

    async def context_named(self, name: str) -> ContextCache | None:
        """The live cache of that name."""
        found = await self._contexts("name = ?", name)
        return found[0] if found else None

    async def contexts(self) -> list[ContextCache]:
        """Every live cache."""
        return await self._contexts("1")

    async def keep_context(self, context: ContextCache) -> None:
        """Remember a cache, instead of an earlier one."""
        await self._write(
            "INSERT OR REPLACE INTO context VALUES (?,?,?,?,?,?,?,?)",
            *context.model_dump().values(),
        )

    async def add_context(self, context: ContextCache, until: float) -> ContextCache:
        """Remember a new one, unless an equal one lives longer; returns the one that is kept."""
        await self._write(
            "INSERT INTO context VALUES (?,?,?,?,?,?,?,?)"
            " ON CONFLICT (content, model, system, account) DO UPDATE SET name = excluded.name,"
            " content_id = excluded.content_id, tokens = excluded.tokens,"
            " expires_at = excluded.expires_at WHERE expires_at <= ?",
            *context.model_dump().values(),
            until,
        )
        known = await self.context(context.content, context.model, context.system)
        return next((it for it in known if it.account == context.account), context)

    async def forget_context(self, name: str) -> None:
        """Forget a cache that the service no longer has."""
        await self._write("DELETE FROM context WHERE name = ?", name)

    async def is_refused(self, content: str, model: str, system: str) -> bool:
        """Check if the service recently refused to cache it."""

        def read(connection: sqlite3.Connection) -> bool:
            row = connection.execute(
                "SELECT 1 FROM refusal WHERE content = ? AND model = ? AND system = ?"
                " AND until > ?",
                (content, model, system, time.time()),
            ).fetchone()
            return row is not None

        return await self._attempt(self._database.look(read), default=False)

    async def keep_refusal(self, content: str, model: str, system: str, until: float) -> None:
        """Remember until then that the service would not cache it."""
        await self._write(
            "INSERT OR REPLACE INTO refusal VALUES (?,?,?,?)", content, model, system, until
        )

    @property
    def exists(self) -> bool:
        """True when anything was ever remembered."""
        return self._database.path.exists()

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def _uploads(self, where: str, *values: str) -> list[Upload]:
        rows = await self._rows("upload", where, values)
        return [Upload(**dict(zip(Upload.model_fields, row, strict=True))) for row in rows]

    async def _contexts(self, where: str, *values: str) -> list[ContextCache]:
        rows = await self._rows("context", where, values)
        names = ContextCache.model_fields
        return [ContextCache(**dict(zip(names, row, strict=True))) for row in rows]

    async def _rows(self, table: str, where: str, values: tuple[str, ...]) -> list[_Row]:
        # The table and the condition come from this module, not from input.
        statement = (
            f"SELECT * FROM {table} WHERE {where} AND expires_at > ?"  # noqa: S608
            " ORDER BY expires_at DESC"
        )

        def read(connection: sqlite3.Connection) -> list[_Row]:
            rows = connection.execute(statement, (*values, time.time())).fetchall()
            sound = [row for row in rows if is_sound(row, _TYPES[table])]
            for row in rows:
                if row not in sound:
                    self._database.leave_out(table, row[0])
            return sound

        nothing: list[_Row] = []
        return await self._attempt(self._database.look(read), default=nothing)

    async def _write(self, statement: str, *values: object) -> None:
        def write(connection: sqlite3.Connection) -> None:
            now = time.time()
            connection.execute("DELETE FROM upload WHERE expires_at < ?", (now,))
            connection.execute("DELETE FROM context WHERE expires_at < ?", (now,))
            connection.execute("DELETE FROM refusal WHERE until < ?", (now,))
            connection.execute(statement, values)

        await self._attempt(self._database.keep(write, None), default=None)

    async def _attempt(self, work: Awaitable[T], *, default: T) -> T:
        try:
            return await work
        except VrError as error:
            self._log.warning("gemini registry unavailable", error=error.message)
            return default
