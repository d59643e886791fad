"""Reads an opened file without moving its position, from any thread, also when it is closed."""

from __future__ import annotations

import asyncio
import hashlib
import os
import threading
import weakref
from collections.abc import AsyncIterator

from vr_kernel.errors import Code, VrError
from vr_kernel.generation import Media

BLOCK = 1024 * 1024


class Source:
    """The file of a `Media`, open for as long as this object is referenced.

    The caller may close its file, and several may read the same one.
    """

    def __init__(self, media: Media) -> None:
        assert media.file is not None
        self._descriptor = os.dup(media.file.fileno())
        weakref.finalize(self, os.close, self._descriptor)
        self._lock = threading.Lock()
        self._given = media.digest
        self.size = os.fstat(self._descriptor).st_size

    async def digest(self) -> str:
        """SHA-256 in hexadecimal: as given, else of the whole file."""
        return self._given or await asyncio.to_thread(self._hash)

    async def read(self) -> bytes:
        """The whole file."""
        return await asyncio.to_thread(self._read, 0, self.size)

    async def blocks(self, start: int, end: int) -> AsyncIterator[bytes]:
        """The bytes from `start` to `end`, in blocks.

        Raises:
            VrError: CONFLICT when the file has become shorter.
        """
        at = start
        while at < end:
            block = await asyncio.to_thread(self._read, at, min(BLOCK, end - at))
            if not block:
                raise VrError(
                    "The file became shorter while it was read.",
                    Code.CONFLICT,
                    category="FILE_CHANGED",
                    hint="Try again when nothing writes to it.",
                )
            yield block
            at += len(block)

    def _read(self, at: int, size: int) -> bytes:
        if hasattr(os, "pread"):
            return os.pread(self._descriptor, size, at)
        with self._lock:
            os.lseek(self._descriptor, at, os.SEEK_SET)  # Windows has no `pread`
            return os.read(self._descriptor, size)

    def _hash(self) -> str:
        digest = hashlib.sha256()
        at = 0
        while block := self._read(at, BLOCK):
            digest.update(block)
            at += len(block)
        return digest.hexdigest()
