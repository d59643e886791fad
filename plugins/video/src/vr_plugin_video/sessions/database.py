"""One SQLite file whose locks, whoever holds them, keep no thread and no other call waiting."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

from vr_kernel import Code, VrError, private_file, private_folder
from vr_kernel.database_damage import replaced
from vr_kernel.database_faults import (
    FAULTS,
    LeftOut,
    explained,
    identity,
    read_text,
    require_own,
    tell_emptied,
)

T = TypeVar("T")
PATIENCE_S = 10.0
"""How long a transaction is tried again while another process holds the lock."""
PAUSE_S = 0.05
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")


class Database:
    """A SQLite file in WAL mode that several processes share.

    SQLite itself never waits for a lock here: it would do so in a thread that others need. Who
    finds the file locked comes back a moment later.

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        patience_s: how long a lock of another process is put up with.
        tell: takes rows that are damaged, once each.

    Attributes:
        left_out: the damaged rows that were met.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        patience_s: float = PATIENCE_S,
        tell: Callable[[VrError], None] = lambda _error: None,
    ) -> None:
        self.path = path
        self.left_out = LeftOut(path, tell)
        self._tell = tell
        self._file: tuple[int, int] | None = None
        self._schema = schema
        self._patience_s = patience_s
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on one snapshot of the file, which a writer elsewhere does not hold up.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when the file cannot be used.
        """
        return await self._run("BEGIN", work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction that commits when it returns.

        Raises:
            VrError: as `read`; retryable when the file stayed locked.
        """
        return await self._run("BEGIN IMMEDIATE", work)

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def _run(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return await asyncio.to_thread(self._transact, begin, work)
            except FAULTS as error:
                if not _is_any_of(error, _BUSY) or time.monotonic() > deadline:
                    raise self._unavailable(error) from None  # its text may quote a row
            await asyncio.sleep(PAUSE_S * (0.5 + random.random()))  # noqa: S311 - no secret

    def _transact(self, begin: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            connection = self._opened()
            connection.execute(begin)
            try:
                result = work(connection)
                connection.commit()
            except BaseException:
                connection.rollback()
                raise
            return result

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and identity(self.path) != self._file:
            self._connection.close()
            self._connection = None
            self._tell(replaced(self.path))
        if self._connection is None:
            tell_emptied(self.path, self._tell)
            private_folder(self.path.parent)
            connection = sqlite3.connect(
                private_file(self.path), timeout=0, isolation_level=None, check_same_thread=False
            )
            try:
                connection.text_factory = read_text
                require_own(connection, self._schema)
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute("PRAGMA synchronous=NORMAL")
                connection.execute("PRAGMA foreign_keys=ON")
                connection.executescript(self._schema)
            except BaseException:
                connection.close()
                raise
            self._connection, self._file = connection, identity(self.path)
        return self._connection

    def _unavailable(self, error: Exception) -> VrError:
        if not _is_any_of(error, _BUSY):
            return explained(self.path, error)
        return VrError(
            f"{self.path.name} cannot be used: {error}.",
            Code.UNAVAILABLE,
            category="STATE_UNAVAILABLE",
            hint="Another program is writing to it. Try again.",
            retryable=True,
        )


def _is_any_of(error: Exception, names: tuple[str, ...]) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(names)
