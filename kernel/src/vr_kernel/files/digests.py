"""The identity of a file's content, computed once per file."""

from __future__ import annotations

import asyncio
import hashlib
import os
from collections.abc import Callable
from io import BufferedReader
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.state.sqlite.digests import SqliteDigests, Stamp
from vr_kernel.storage.patience import Patience

LATEST = 1000
"""Number of files that are also remembered in memory."""


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
        self._table = SqliteDigests(path, tell, patience)
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
        self._table.close()

    async def _known(self, name: str, stamp: Stamp) -> str | None:
        latest = self._latest.get(name)
        if latest is not None and latest[0] == stamp:
            return latest[1]
        try:
            found = await self._table.find(name, stamp)
        except VrError:
            return None
        if found:
            self._note(name, stamp, found)
        return found

    async def _remember(self, name: str, stamp: Stamp, digest: str) -> None:
        self._note(name, stamp, digest)
        try:
            await self._table.put(name, stamp, digest)
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
