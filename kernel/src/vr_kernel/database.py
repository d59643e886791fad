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
BUSY_PAUSE_S = 0.01
PAGE_BYTES = 4096
_READ, _WRITE = "BEGIN DEFERRED", "BEGIN IMMEDIATE"
# The module cannot decode a message of SQLite that quotes damaged names.
_FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_FOREIGN = ("SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_READONLY")
"""How a file of another program, or of another version, answers to our statements."""


class Database:
    """A SQLite file in WAL mode, shared by processes; calls of one process take turns.

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        synchronous: FULL survives power loss, NORMAL may lose the last commits to it.
        disposable: a damaged or foreign file is set aside and made anew, because its content
            can be; text in it that is no UTF-8 is read with replacement characters.
        page_bytes: of a file that is made; one that is there keeps its own.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "NORMAL",
        disposable: bool = False,
        page_bytes: int = PAGE_BYTES,
    ) -> None:
        self.path = path
        self._schema = schema
        self._synchronous = synchronous
        self._disposable = disposable
        self._page_bytes = page_bytes
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in a thread, in one transaction that commits when it returns.

        Raises:
            VrError: UNAVAILABLE when the file cannot be opened, read or written.
        """
        return await asyncio.to_thread(self.run_blocking, work)

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run` for work that writes nothing: it never waits for another process's writer."""
        return await asyncio.to_thread(self.run_blocking, work, _READ)

    def run_blocking(self, work: Callable[[sqlite3.Connection], T], begin: str = _WRITE) -> T:
        """Like `run`, in the calling thread."""
        with self._lock:
            try:
                return self._transact(work, begin)
            except _FAULTS as error:
                if not (self._disposable and _is_any_of(error, _DAMAGED + _FOREIGN)):
                    raise self._unavailable(error) from error
            try:
                self._set_aside()
                return self._transact(work, begin)
            except _FAULTS as error:
                raise self._unavailable(error) from error

    def close(self) -> None:
        """Close the file; a later `run` opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    def _transact(self, work: Callable[[sqlite3.Connection], T], begin: str) -> T:
        connection = self._opened()
        connection.execute(begin)
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
                if self._disposable:
                    connection.text_factory = _text
                connection.execute(f"PRAGMA busy_timeout={BUSY_TIMEOUT_MS}")
                connection.execute(f"PRAGMA page_size={self._page_bytes}")
                _enter_wal_mode(connection)
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
        if _is_any_of(error, _DAMAGED):
            hint = f"The file is damaged. Move {self.path} away to start a new one."
        else:
            hint = f"Check that {self.path.parent} exists, is writable and has free space."
        return VrError(
            f"{self.path.name} cannot be used: {error}.",
            Code.UNAVAILABLE,
            category="STATE_UNAVAILABLE",
            hint=hint,
        )


def _enter_wal_mode(connection: sqlite3.Connection) -> None:
    """Switch to WAL, again until it works: SQLite does not wait for a lock while it switches."""
    deadline = time.monotonic() + BUSY_TIMEOUT_MS / 1000
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if not _is_any_of(error, ("SQLITE_BUSY",)) or time.monotonic() > deadline:
                raise
            time.sleep(BUSY_PAUSE_S)
        else:
            return


def _text(data: bytes) -> str:
    return data.decode("utf-8", "replace")


def _is_any_of(error: Exception, names: tuple[str, ...]) -> bool:
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else ""
    return (getattr(error, "sqlite_errorname", None) or name).startswith(names)
