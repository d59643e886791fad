"""The identity of a file's content, computed once per file."""

from __future__ import annotations

import asyncio
import hashlib
import os
import re
import sqlite3
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.storage.database import Database
from vr_kernel.storage.patience import Patience

_SCHEMA = """
CREATE TABLE IF NOT EXISTS digest (
    path BLOB PRIMARY KEY, size INTEGER, mtime_ns INTEGER, inode INTEGER, sha256 TEXT
);
"""
LATEST = 1000
"""Number of files that are also remembered in memory."""
WAIT_S = 0.5
"""Seconds to wait for another process before a digest is remembered."""
Stamp = tuple[int, int, int]
"""Size, modification time and inode: while they are unchanged, so is the file."""


class Digests:
    """SHA-256 of files, remembered by path, size, modification time and inode.

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
        self._latest: dict[str, tuple[Stamp, str]] = {}

    async def sha256(
        self, file: BufferedReader, *, check: Callable[[BufferedReader], object] | None = None
    ) -> str:
        """The digest in hexadecimal of a whole opened file, whose position is left at 0.

        Args:
            file: opened for reading.
            check: called with a file that is not known yet, in a thread, before all of it is read;
                what it raises is raised.
        """
        status = os.fstat(file.fileno())
        stamp = (status.st_size, status.st_mtime_ns, status.st_ino)
        named = not isinstance(file.name, int)  # a descriptor's number names no file
        known = await self._known(file.name, stamp) if named else None
        if known:
            file.seek(0)
            return known
        digest = await asyncio.to_thread(_hash, file, check)
        if named:
            await self._remember(file.name, stamp, digest)
        return digest

    def close(self) -> None:
        """Close the file."""
        self._database.close()

    async def _known(self, name: str, stamp: Stamp) -> str | None:
        latest = self._latest.get(name)
        if latest is not None and latest[0] == stamp:
            return latest[1]

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

        try:
            found = await self._database.read(read)
        except VrError:
            return None
        if found:
            self._note(name, stamp, found)
        return found

    async def _remember(self, name: str, stamp: Stamp, digest: str) -> None:
        self._note(name, stamp, digest)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute(
                "INSERT OR REPLACE INTO digest VALUES (?,?,?,?,?)",
                (os.fsencode(name), *stamp, digest),
            )

        try:
            await self._database.run(write, wait_s=WAIT_S)
        except VrError:
            return

    def _note(self, name: str, stamp: Stamp, digest: str) -> None:
        self._latest.pop(name, None)
        self._latest[name] = (stamp, digest)
        if len(self._latest) > LATEST:
            del self._latest[next(iter(self._latest))]


def _hash(file: BufferedReader, check: Callable[[BufferedReader], object] | None) -> str:
    if check is not None:
        check(file)
    file.seek(0)
    digest = hashlib.file_digest(file, "sha256")
    file.seek(0)
    return digest.hexdigest()
