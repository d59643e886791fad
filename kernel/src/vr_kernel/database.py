"""One SQLite file behind an async door: opened at first use, worked on in a thread."""

from __future__ import annotations

import asyncio
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import Literal, TypeVar

from vr_kernel.errors import Code, VrError

T = TypeVar("T")
BUSY_TIMEOUT_MS = 10_000
_DAMAGED = {"SQLITE_CORRUPT", "SQLITE_NOTADB"}


class Database:
    """A SQLite file in WAL mode, shared by processes; calls of one process take turns.

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        synchronous: FULL survives power loss, NORMAL may lose the last commits to it.
        disposable: a damaged file is set aside and made anew, because its content can be.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "NORMAL",
        disposable: bool = False,
    ) -> None:
        self.path = path
        self._schema = schema
        self._synchronous = synchronous
        self._disposable = disposable
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a thread, in one transaction that commits when it returns.

        Raises:
            VrError: UNAVAILABLE when the file cannot be opened, read or written.
        """
        return await asyncio.to_thread(self.run_blocking, work)

    def run_blocking(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run`, in the calling thread."""
        with self._lock:
            try:
                return self._transact(work)
            except (sqlite3.Error, OSError) as error:
                if not (self._disposable and _is_damage(error)):
                    raise self._unavailable(error) from error
                self._set_aside()
            try:
                return self._transact(work)
            except (sqlite3.Error, OSError) as error:
                raise self._unavailable(error) from error

    def close(self) -> None:
        """Close the file; a later `run` opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _transact(self, work: Callable[[sqlite3.Connection], T]) -> T:
        connection = self._opened()
        connection.execute("BEGIN IMMEDIATE")
        try:
            result = work(connection)
        except BaseException:
            connection.rollback()
            raise
        connection.commit()
        return result

    def _opened(self) -> sqlite3.Connection:
        if self._connection is None:
            self.path.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
            connection = sqlite3.connect(self.path, isolation_level=None, check_same_thread=False)
            try:
                connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA synchronous={self._synchronous}")
                connection.executescript(self._schema)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
        return self._connection

    def _set_aside(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None
        for suffix in ("-wal", "-shm"):
            self.path.with_name(self.path.name + suffix).unlink(missing_ok=True)
        if self.path.exists():
            self.path.replace(self.path.with_name(f"{self.path.name}.damaged-{time.time_ns()}"))

    def _unavailable(self, error: Exception) -> VrError:
        if _is_damage(error):
            hint = f"The file is damaged. Move {self.path} away to start a new one."
        else:
            hint = f"Check that {self.path.parent} exists, is writable and has free space."
        return VrError(
            f"{self.path.name} cannot be used: {error}.",
            Code.UNAVAILABLE,
            category="STATE_UNAVAILABLE",
            hint=hint,
        )


def _is_damage(error: Exception) -> bool:
    name = getattr(error, "sqlite_errorname", "") or ""
    return any(name.startswith(damage) for damage in _DAMAGED)
