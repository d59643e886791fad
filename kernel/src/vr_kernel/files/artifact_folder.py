"""Artifacts in a folder of this machine."""

from __future__ import annotations

import asyncio
import hashlib
import os
import stat
from collections.abc import AsyncIterator, Callable, Sequence
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TypeAlias, TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.files.artifacts import PIECE, Artifacts, is_artifact_name, mime_of, no_artifact
from vr_kernel.state.artifacts import (
    StoredArtifact,
    require_digest,
    require_range,
    require_seconds,
)

T = TypeVar("T")
_Found: TypeAlias = list[StoredArtifact]
LISTED = 1000
"""Files of a folder that are looked at in one go."""
_OPEN = os.O_RDONLY | getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_BINARY", 0)


class ArtifactFolder:
    """A folder of artifacts; see `vr_kernel.state.ArtifactStore`.

    A link in it is no artifact, so nothing is read outside.

    Args:
        folder: made when something is added.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    async def add(self, content: bytes | Path, mime: str) -> StoredArtifact:
        """Keep bytes, or a copy of a file; nothing is kept in part."""
        kept = await asyncio.to_thread(Artifacts(self.folder).add, content, mime)
        return await self.find(kept.path.name)

    async def find(self, name: str) -> StoredArtifact:
        """Return what is known of an artifact."""
        return await self._attempt(name, self._found)

    async def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range of bytes, fewer where it reaches past the end."""
        require_range(start, length)

        def read(name: str) -> bytes:
            with self._opened(name) as file:
                size = os.fstat(file.fileno()).st_size
                file.seek(min(start, size))
                return file.read(size if length is None else min(length, size))

        return await self._attempt(name, read)

    async def stream(self, name: str) -> AsyncIterator[bytes]:
        """Read all bytes in pieces, and check them before the last one."""
        file = await self._attempt(name, self._opened)
        try:
            digest, piece = hashlib.sha256(), b""
            while following := await self._attempt(name, lambda _name: file.read(PIECE)):
                digest.update(following)
                if piece:
                    yield piece
                piece = following
            require_digest(name, digest.hexdigest())
            if piece:
                yield piece
        finally:
            file.close()

    async def delete(self, name: str) -> bool:
        """Remove an artifact; False when there is none."""
        try:
            await self._attempt(name, lambda name: (self.folder / name).unlink())
        except VrError as error:
            if error.code is Code.NOT_FOUND:
                return False
            raise
        return True

    async def discard(self, name: str, before: float) -> bool:
        """Remove an artifact unless it counts as new since then; True when it is gone."""

        def discard(name: str) -> bool:
            if self._found(name).modified >= before:
                return False
            (self.folder / name).unlink()
            return True

        try:
            return await self._attempt(name, discard)
        except VrError as error:
            if error.code is Code.NOT_FOUND:
                return True
            raise

    async def list(self) -> AsyncIterator[StoredArtifact]:
        """Yield all artifacts, in no order."""
        try:
            names = await asyncio.to_thread(os.listdir, self.folder)
        except (FileNotFoundError, NotADirectoryError):
            return
        except OSError as error:
            raise self._unusable(self.folder, error) from error
        for start in range(0, len(names), LISTED):
            for found in await asyncio.to_thread(self._listed, names[start : start + LISTED]):
                yield found

    async def link(self, name: str, seconds: float) -> str | None:
        """Return None: nobody else can read the files of this machine."""
        require_seconds(seconds)
        await self.find(name)
        return None

    @asynccontextmanager
    async def local(self, name: str) -> AsyncIterator[Path]:
        """Hold an artifact: it is a file of this machine already."""
        await self.find(name)
        yield self.folder / name

    def _found(self, name: str) -> StoredArtifact:
        return _artifact(name, (self.folder / name).lstat())

    def _listed(self, names: Sequence[str]) -> _Found:
        found = []
        for name in filter(is_artifact_name, names):
            with suppress(OSError, VrError):  # removed meanwhile, or a link
                found.append(self._found(name))
        return found

    def _opened(self, name: str) -> BinaryIO:
        path = self.folder / name
        _artifact(name, path.lstat())
        return os.fdopen(os.open(path, _OPEN), "rb")

    async def _attempt(self, name: str, work: Callable[[str], T]) -> T:
        """Do work on an artifact in a thread.

        Raises:
            VrError: NOT_FOUND, UNAVAILABLE.
        """
        if not is_artifact_name(name):
            raise no_artifact(name)
        try:
            return await asyncio.to_thread(work, name)
        except (FileNotFoundError, NotADirectoryError):
            raise no_artifact(name) from None
        except OSError as error:
            raise self._unusable(self.folder / name, error) from error

    def _unusable(self, path: Path, error: OSError) -> VrError:
        return VrError(
            f"{path} cannot be used: {error.strerror}.",
            Code.UNAVAILABLE,
            category="STATE_UNAVAILABLE",
            hint=f"Check that {self.folder} may be read and written.",
        )


def _artifact(name: str, found: os.stat_result) -> StoredArtifact:
    if not stat.S_ISREG(found.st_mode):
        raise no_artifact(name)
    return StoredArtifact(name, mime_of(name), found.st_size, found.st_mtime)
