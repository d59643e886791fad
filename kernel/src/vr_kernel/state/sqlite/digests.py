"""Digests of files in a SQLite file. They are always of this machine, so they have no protocol."""

from __future__ import annotations

import os
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.storage.database import Database
from vr_kernel.storage.patience import Patience

_SCHEMA = """
CREATE TABLE IF NOT EXISTS digest (
    path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, inode INTEGER, sha256 TEXT
);
"""
WAIT_S = 0.5
"""Seconds to wait for another process before a digest is remembered."""
Stamp = tuple[int, int, int]
"""Size, modification time and inode: while they are unchanged, so is the file."""


class SqliteDigests:
    """Digests by path and stamp.

    Args:
        path: of the database.
        tell: called once for each damage found in it.
        patience: with locks, shared with the other files of the program.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self._database = Database(path, _SCHEMA, disposable=True, tell=tell, patience=patience)

    async def find(self, name: str, stamp: Stamp) -> str | None:
        """Return the digest of a file, in hexadecimal; None when it is unknown or damaged.

        Raises:
            VrError: UNAVAILABLE when the database cannot be read.
        """

        def read(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(
                "SELECT sha256 FROM digest"
                " WHERE path = ? AND size = ? AND mtime_ns = ? AND inode = ?",
                (os.fsencode(name), *stamp),
            ).fetchone()
            if row and not re.fullmatch("[0-9a-f]{64}", str(row[0])):
                self._database.leave_out("digest", name)
                return None
            return row[0] if row else None

        return await self._database.read(read)

    async def put(self, name: str, stamp: Stamp, digest: str) -> None:
        """Keep the digest of a file; waits for no other process for long.

        Raises:
            VrError: UNAVAILABLE when the database cannot be written.
        """

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO digest VALUES (?,?,?,?,?)",
                (os.fsencode(name), *stamp, digest),
            )

        await self._database.run(write, wait_s=WAIT_S)

    def close(self) -> None:
        """Close the file; a later use opens it again."""
        self._database.close()
