"""A SQLite file whose locks make no thread and no other call wait."""

from __future__ import annotations

import asyncio
import functools
import random
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from vr_kernel import VrError, private_file, private_folder
from vr_kernel.storage import (
    FAULTS,
    FileIdentity,
    LeftOut,
    explained,
    identities,
    is_busy,
    is_full,
    is_passing,
    leave,
    read_text,
    require_own,
    tell_emptied,
)

T = TypeVar("T")
PATIENCE_S = 10.0
"""Seconds for which a transaction is tried again while another process has the lock."""
PAUSE_S = 0.05
_BUSY = ("SQLITE_BUSY", "SQLITE_LOCKED")
_READ, _LOOK, _WRITE = "read", "look", "write"


class Database:
    """A SQLite file in WAL mode that several processes share.

    SQLite itself never waits for a lock here, as that would block a thread that other calls need. A
    caller that finds the file locked tries again a moment later.

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        patience_s: seconds to wait for a lock of another process.
        tell: is called with each damaged row, once.
        room_of: reserved disk space for paid results, by folder.

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
        room_of: Callable[[Path], Any] | None = None,
    ) -> None:
        self.path = path
        self.left_out = LeftOut(path, tell)
        self._tell = tell
        self._opened_as: tuple[FileIdentity, FileIdentity, FileIdentity] = (None, None, None)
        self._schema = schema
        self._patience_s = patience_s
        self._room_of = room_of
        self._pending: list[Callable[[sqlite3.Connection], object]] = []
        self._lock = threading.Lock()
        self._connection: sqlite3.Connection | None = None

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on one snapshot of the file, whatever others are writing.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when the file cannot be used.
        """
        return await self._run(_READ, work)

    async def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one transaction that commits when it returns.

        Raises:
            VrError: as `read`; retryable when the file stayed locked.
        """
        return await self._run(_WRITE, work)

    async def keep(self, work: Callable[[sqlite3.Connection], T], otherwise: T) -> T:
        """Like `write`, for paid results: on a full disk the write waits in memory.

        Reads include it, and it is done before any other write, as soon as there is room.
        `otherwise` is returned where it cannot even be tried.
        """
        return await self._run(_WRITE, work, (otherwise,))

    async def require_room(self) -> None:
        """Check that there is room for results that will be paid, and that no write waits for room.

        Raises:
            VrError: as `write`.
        """
        if self._pending:
            await self.write(lambda _connection: None)
        if self._room_of is not None:
            await self._room_of(self.path.parent).require(1)

    @property
    def has_pending(self) -> bool:
        """True while writes wait in memory for room on the disk."""
        return bool(self._pending)

    def close(self) -> None:
        """Close the file, after trying pending writes. A later use opens it again."""
        try:
            self._write_pending()
        except VrError as error:
            assert self._room_of is not None
            room = self._room_of(self.path.parent)
            room.lost(self.path.name, len(self._pending), str(error))
        with self._lock:
            if self._connection is not None:
                self._connection.close()
                self._connection = None

    async def _run(
        self, how: str, work: Callable[[sqlite3.Connection], T], otherwise: tuple[T, ...] = ()
    ) -> T:
        deadline = time.monotonic() + self._patience_s
        while True:
            try:
                return await asyncio.to_thread(self._transact, how, work)
            except FAULTS as error:
                if not _is_any_of(error, _BUSY) or time.monotonic() > deadline:
                    if otherwise and self._is_passing_trouble(error):
                        pending = functools.partial(self._keep_pending, work, error, otherwise[0])
                        return await asyncio.to_thread(pending)
                    raise self._unavailable(error) from None  # its message may quote a row
            await asyncio.sleep(PAUSE_S * (0.5 + random.random()))  # noqa: S311 - no secret

    def _is_passing_trouble(self, error: BaseException) -> bool:
        """True when the file may be writable later; not for one that could not even be opened."""
        opened = self._connection is not None and is_passing(error)
        return self._room_of is not None and (opened or is_full(error))

    def _keep_pending(
        self, work: Callable[[sqlite3.Connection], T], error: BaseException, otherwise: T
    ) -> T:
        assert self._room_of is not None
        room, result = self._room_of(self.path.parent), otherwise
        if not is_busy(error) and room.give_up():
            with suppress(*FAULTS):
                return self._transact(_WRITE, work)
        with suppress(*FAULTS):
            result = self._transact(_LOOK, work)
        self._pending.append(work)
        room.wait_for(self._write_pending, self._unavailable(error))
        return result

    def _write_pending(self) -> None:
        if not self._pending:
            return
        try:
            self._transact(_WRITE, lambda _connection: None)
        except FAULTS as error:
            raise self._unavailable(error) from None

    def _transact(self, how: str, work: Callable[[sqlite3.Connection], T]) -> T:
        with self._lock:
            try:
                connection = self._opened()
            except FAULTS as error:
                if how == _READ:
                    from vr_kernel.storage import read_unwritable

                    found = read_unwritable(self.path, [work], error, self._schema)
                    if found is not None:
                        return found[0]
                raise
            pending = [*self._pending]
            if pending or how == _LOOK:  # SQLite would write to disk what does not fit into memory
                connection.execute("PRAGMA cache_spill=OFF")
            connection.execute("BEGIN" if how == _READ and not pending else "BEGIN IMMEDIATE")
            try:
                for each in pending:
                    with suppress(VrError):  # such as a turn of a dropped session
                        each(connection)
                result = work(connection)
                if how == _WRITE:
                    connection.commit()
                    del self._pending[: len(pending)]
            finally:
                connection.rollback()
            return result

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and identities(self.path) != self._opened_as:
            gone, self._connection = self._connection, None
            self._tell(leave(self.path, self._opened_as, gone, gone.close))
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
            self._connection = connection
            self._opened_as = identities(self.path)
        return self._connection

    def _unavailable(self, error: BaseException) -> VrError:
        return explained(self.path, error)


def _is_any_of(error: Exception, names: tuple[str, ...]) -> bool:
    return (getattr(error, "sqlite_errorname", None) or "").startswith(names)
