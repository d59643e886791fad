"""Artifacts: files that tools produce, and the store that keeps them."""

from __future__ import annotations

import math
from collections.abc import AsyncIterator
from contextlib import AbstractAsyncContextManager
from pathlib import Path
from typing import NamedTuple, Protocol

from vr_kernel.errors import Code, VrError


class StoredArtifact(NamedTuple):
    """An artifact in its store.

    Attributes:
        name: its SHA-256 and an ending for its type; the last part of its address.
        mime: its type, as its name tells.
        size: in bytes.
        modified: seconds since the epoch.
    """

    name: str
    mime: str
    size: int
    modified: float


class ArtifactStore(Protocol):
    """The artifacts of one workspace: equal content is one object.

    Every method raises `VrError`: NOT_FOUND for a name that no artifact has, whatever else it may
    name; UNAVAILABLE when the store cannot be used.
    """

    async def add(self, content: bytes | Path, mime: str) -> StoredArtifact:
        """Keep bytes, or a copy of a file; nothing is kept in part.

        Raises:
            OSError: when the file cannot be read.
        """

    async def find(self, name: str) -> StoredArtifact:
        """Return what is known of an artifact."""

    async def read(self, name: str, start: int = 0, length: int | None = None) -> bytes:
        """Read a range of bytes, fewer where it reaches past the end; their digest is not checked.

        Raises:
            VrError: INVALID_INPUT for a negative start or length.
        """

    def stream(self, name: str) -> AsyncIterator[bytes]:
        """Read all bytes in pieces.

        Raises:
            VrError: CONFLICT, category ARTIFACT_CHANGED, before the last piece, when they are not
                the content that was added.
        """

    async def delete(self, name: str) -> bool:
        """Remove an artifact; False when there is none."""

    def list(self) -> AsyncIterator[StoredArtifact]:
        """Yield all artifacts, in no order."""

    async def link(self, name: str, seconds: float) -> str | None:
        """Return an address under which anybody can read it for a time; None where none can be.

        Raises:
            VrError: INVALID_INPUT unless `seconds` is a positive number.
        """

    def local(self, name: str) -> AbstractAsyncContextManager[Path]:
        """Hold an artifact as a file of this machine, which must not be changed.

        A store elsewhere checks the digest of its copy; a folder hands out its own file unread.
        """


def require_range(start: int, length: int | None) -> None:
    """Refuse a range that no content has.

    Raises:
        VrError: INVALID_INPUT for a negative start or length.
    """
    if start < 0 or (length is not None and length < 0):
        raise VrError(
            f"No range of an artifact: {length} bytes from {start}.",
            Code.INVALID_INPUT,
            hint="Both are 0 or more.",
        )


def require_seconds(seconds: float) -> None:
    """Refuse a time that no link can last.

    Raises:
        VrError: INVALID_INPUT unless it is a positive number.
    """
    if not 0 < seconds < math.inf:
        raise VrError(
            f"A link cannot last {seconds} seconds.",
            Code.INVALID_INPUT,
            hint="Give a positive number of seconds.",
        )


def require_digest(name: str, digest: str) -> None:
    """Refuse content that is not what was added under that name.

    Raises:
        VrError: CONFLICT, category ARTIFACT_CHANGED.
    """
    if not name.startswith(f"{digest}."):
        raise VrError(
            f"Artifact {name} was changed: it is not what was kept.",
            Code.CONFLICT,
            category="ARTIFACT_CHANGED",
            hint="Remove it with `vr clean --artifacts`, and run the tool again.",
        )
