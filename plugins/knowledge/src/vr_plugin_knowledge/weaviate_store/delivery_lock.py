"""A lock on delivery: one process at a time of those that share a state folder."""

from __future__ import annotations

import asyncio
import sqlite3
import uuid
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from vr_kernel import Code, VrError, private_file, private_folder
from vr_kernel.storage import (
    Patience,
    explained,
    is_busy,
    is_damage,
    read_text,
    row_damaged,
    wording,
)

WAIT_S = 90.0
"""Longest wait for the lock; more than a batch of another process may take."""
PAUSE_S = 0.05


class DeliveryLock:
    """A small file beside the journal: the journal's name, and a lock that dies with its holder.

    The name distinguishes the journals of several machines that fill one server. Weaviate has no
    transactions: without the lock a slow process could write an old state over a newer one.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._own = asyncio.Lock()
        self._name = ""

    async def name(self) -> str:
        """The journal's name, generated at first use.

        Raises:
            VrError: UNAVAILABLE when the file cannot be used.
        """
        if not self._name:
            self._name = await asyncio.to_thread(self._read_name)
        return self._name

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Wait for the lock, and hold it.

        Raises:
            VrError: UNAVAILABLE when another process holds it for too long.
        """
        await self.name()
        async with self._own:
            connection = await asyncio.to_thread(self._open)
            try:
                await self._begin(connection)
                yield
            finally:
                connection.close()

    async def _begin(self, connection: sqlite3.Connection) -> None:
        patience = Patience(WAIT_S)
        wait = patience.begin()
        while True:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or patience.is_over(wait):
                    raise _unavailable(self._path, error) from error
                await asyncio.sleep(PAUSE_S)
            else:
                return

    def _open(self) -> sqlite3.Connection:
        try:
            private_folder(self._path.parent)
            connection = sqlite3.connect(
                private_file(self._path), isolation_level=None, timeout=0, check_same_thread=False
            )
        except (sqlite3.Error, OSError) as error:
            raise _unavailable(self._path, error) from error
        connection.text_factory = read_text
        return connection

    def _read_name(self) -> str:
        connection = self._open()
        try:
            connection.execute(f"PRAGMA busy_timeout = {int(WAIT_S * 1000)}")
            # Read first, since reading does not wait for the holder of the lock.
            if name := _kept_name(connection):
                _require_name(self._path, name)
                return name
            connection.execute(
                "CREATE TABLE IF NOT EXISTS journal (one INTEGER PRIMARY KEY, name TEXT NOT NULL)"
            )
            connection.execute("INSERT OR IGNORE INTO journal VALUES (1, ?)", (str(uuid.uuid4()),))
            return _kept_name(connection)
        except sqlite3.Error as error:
            raise _unavailable(self._path, error) from error
        finally:
            connection.close()


def _kept_name(connection: sqlite3.Connection) -> str:
    tables = connection.execute("SELECT 1 FROM sqlite_schema WHERE name = 'journal'").fetchall()
    row = connection.execute("SELECT name FROM journal").fetchone() if tables else None
    return str(row[0]) if row else ""


def _require_name(path: Path, name: str) -> None:
    """Refuse a name that no journal can have.

    Raises:
        VrError: UNAVAILABLE, category STATE_DAMAGED.
    """
    try:
        uuid.UUID(name)
    except ValueError:
        raise row_damaged(path, "journal", 1) from None


def _unavailable(path: Path, error: Exception) -> VrError:
    if is_damage(error) or is_busy(error):
        return explained(path, error)
    return VrError(
        f"{path.name} cannot be used: {wording(error)}.",
        Code.UNAVAILABLE,
        category="STORE_UNAVAILABLE",
        hint=f"Check that {path.parent} exists, is writable and has free space.",
        retryable=True,
    )
