"""Artifacts in the memory of one process."""

from __future__ import annotations

import asyncio
import hashlib
import tempfile
import time
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from pathlib import Path

from vr_kernel.files.artifacts import artifact_name, mime_of, no_artifact
from vr_kernel.state import StoredArtifact
from vr_kernel.state.artifacts import require_digest, require_range, require_seconds

PIECE = 1 << 16
"""Bytes of a piece."""


class MemoryArtifacts:
    """Artifacts in memory; see `vr_kernel.state.ArtifactStore`.

    Attributes:
        kept: content and time by name.
    """

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch."""
        self._clock = clock
        self.kept: dict[str, tuple[bytes, float]] = {}

    async def add(self, content: bytes | Path, mime: str) -> StoredArtifact:
        """Keep bytes, or a copy of a file."""
        if isinstance(content, Path):
            content = await asyncio.to_thread(content.read_bytes)
        name = artifact_name(hashlib.sha256(content).hexdigest(), mime)
        self.kept.setdefault(name, (content, self._clock()))
        return await self.find(name)

    async def find(self, name: str) -> StoredArtifact:
        """Return what is known of an artifact."""
        if name not in self.kept:
            raise no_artifact(name)
        content, modified = self.kept[name]
        return StoredArtifact(name, mime_of(name), len(content), modified)

    async def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range of bytes, fewer where it reaches past the end."""
        require_range(start, length)
        await self.find(name)
        return self.kept[name][0][start:][:length]

    async def stream(self, name: str) -> AsyncIterator[bytes]:
        """Read all bytes in pieces."""
        await self.find(name)
        content, _ = self.kept[name]
        require_digest(name, hashlib.sha256(content).hexdigest())
        for start in range(0, len(content), PIECE):
            yield content[start : start + PIECE]

    async def delete(self, name: str) -> bool:
        """Remove an artifact; False when there is none."""
        return self.kept.pop(name, None) is not None

    async def list(self) -> AsyncIterator[StoredArtifact]:
        """Yield all artifacts."""
        for name in [*self.kept]:
            if name in self.kept:
                yield await self.find(name)

    async def link(self, name: str, seconds: float) -> str | None:
        """Return None: nobody else can read this memory."""
        require_seconds(seconds)
        await self.find(name)
        return None

    @asynccontextmanager
    async def local(self, name: str) -> AsyncIterator[Path]:
        """Hold an artifact as a file of this machine."""
        content = b"".join([piece async for piece in self.stream(name)])
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / name
            await asyncio.to_thread(path.write_bytes, content)
            yield path
