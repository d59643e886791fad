"""Damaged rows of a file, each reported once."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.storage.sound_rows import shown_key

MOST_TOLD = 100
"""Maximum number of damaged rows of one file that are named; there may be more."""


class LeftOut:
    """The damaged rows that were found in a file, each reported once.

    Args:
        path: the file.
        tell: called with the error that names a row.
    """

    def __init__(self, path: Path, tell: Callable[[VrError], None]) -> None:
        self._path = path
        self._tell = tell
        self._told: set[tuple[str, str]] = set()

    def __len__(self) -> int:
        return len(self._told)

    def add(self, table: str, key: object) -> None:
        """Report a damaged row; `key` identifies it, and is not its content."""
        named = (table, shown_key(key))
        if named not in self._told and len(self._told) < MOST_TOLD:
            self._told.add(named)
            from vr_kernel.storage.database_errors import row_damaged

            self._tell(row_damaged(self._path, table, key))
