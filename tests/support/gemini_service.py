"""Gemini of a temporary folder, at a fake service."""

from __future__ import annotations

import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, closing
from pathlib import Path
from typing import Any

from ledger_state import ledger_state
from vr_kernel.config.model_settings import ModelsSettings
from vr_kernel.config.paths import Paths
from vr_kernel.gemini.service import GeminiService
from vr_kernel.generation import Media, Part, Request, Text, Turn, Usage
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.log import Log
from vr_kernel.state import OpenRows, Place, Rows, RowSpace
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_kernel.state.sqlite.rows import SqliteRows
from vr_testing import MemoryState

MODEL = "gemini-3.8-flash"
LARGE = 20_000_001
"""One byte more than travels inside a request."""


def rows_of(space: RowSpace | None = None, namespace: str = "gemini") -> OpenRows:
    """Open the rows of a part of the kernel; in memory unless a space is given."""
    rows = (space or MemoryState().rows).of(Place(namespace))

    async def opened() -> Rows:
        return rows

    return opened


def folders(tmp_path: Path) -> Paths:
    return Paths(tmp_path / "config", tmp_path / "state", tmp_path / "cache")


@asynccontextmanager
async def gemini_at(url: str, tmp_path: Path, **settings: Any) -> AsyncIterator[GeminiService]:
    """A service with the key `one`, unless the settings say otherwise."""
    chosen = ModelsSettings.model_validate(
        {"gemini_api_keys": ["one"], "gemini_base_url": url, **settings}
    )
    paths = folders(tmp_path)
    with (
        closing(open_ledger(paths.state / "jobs.db")) as ledger,
        closing(SqliteRows(paths.rows)) as space,
    ):
        leases = LedgerLeases(ledger_state(ledger, lease_s=20))
        gemini = GeminiService(lambda: chosen, rows_of(space), Log("error", "console"), leases)
        try:
            yield gemini
        finally:
            await gemini.aclose()
            await leases.aclose()


def ask(*parts: Part | str, **more: Any) -> Request:
    said = tuple(Text(part) if isinstance(part, str) else part for part in parts)
    return Request((Turn("user", said),), **more)


@asynccontextmanager
async def video(tmp_path: Path, size: int = LARGE, name: str = "a.mp4") -> AsyncIterator[Media]:
    """A file of zeros, which takes no room on the disk."""
    path = tmp_path / name
    with path.open("wb") as made:
        made.truncate(size)
    with path.open("rb") as file:
        digest = hashlib.file_digest(file, "sha256").hexdigest()
        yield Media("video/mp4", file=file, digest=digest)


def in_tokens(usage: Usage) -> Usage:
    """A bill as the service itself reports it: without dollars."""
    return usage.model_copy(update={"cost_usd": None})
