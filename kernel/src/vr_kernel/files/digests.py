"""The identity of a file's content, computed once a file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import sqlite3
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from vr_kernel.database import Database
from vr_kernel.errors import VrError

_SCHEMA = """
CREATE TABLE IF NOT EXISTS digest (
    path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, inode INTEGER, sha256 TEXT
);
"""


class Digests:
    """SHA-256 of files, remembered by path, size, modification time and inode."""

    def __init__(self, path: Path) -> None:
        self._database = Database(path, _SCHEMA, disposable=True)

    async def sha256(
        self, file: BufferedReader, *, check: Callable[[BufferedReader], object] | None = None
    ) -> str:
        """The digest in hexadecimal of a whole opened file, whose position is left at 0.

        Args:
            file: opened for reading.
            check: looks at a file that is not known yet, in a thread, before all of it is read;
                what it raises is raised.
        """
        status = os.fstat(file.fileno())
        stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
        named = not isinstance(file.name, int)  # the number of a descriptor says nothing
        known = await self._known(file.name, stamp) if named else None
        if known:
            file.seek(0)
            return known
        if check is not None:
            await asyncio.to_thread(check, file)
        digest = await asyncio.to_thread(_hash, file)
        if named:
            await self._remember(file.name, stamp, digest)
        return digest

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def _known(self, name: str, stamp: tuple[int, int, int]) -> str | None:
        def read(connection: sqlite3.Connection) -> str | None:
            row = connection.execute(
                "SELECT sha256 FROM digest"
                " WHERE path = ? AND size = ? AND mtime_ns = ? AND inode = ?",
                (os.fsencode(name), *stamp),
            ).fetchone()
            return row[0] if row else None

        try:
            return await self._database.read(read)
        except VrError:
            return None

    async def _remember(self, name: str, stamp: tuple[int, int, int], digest: str) -> None:
        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO digest VALUES (?,?,?,?,?)",
                (os.fsencode(name), *stamp, digest),
            )

        try:
            await self._database.run(write)
        except VrError:
            return


def _hash(file: BufferedReader) -> str:
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256")
    file.seek(0)
    return digest.hexdigest()
