"""Kept beside the journal: which journals this state folder had, and how far they had come."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection
from contextlib import suppress

from vr_kernel.database import Database
from vr_kernel.errors import VrError
from vr_kernel.journal.lineage import Position


class NotAttendedError(Exception):
    """The journal's file is another one than was looked at before it was written."""


class Known:
    """Positions of journals, in a file that is not the journal's.

    It is written once a journal and when a program ends: rarely enough to cost nothing. Without
    the file nothing is known, and nothing fails.

    Args:
        ledger: the job ledger's file.
    """

    def __init__(self, ledger: Database) -> None:
        self._ledger = ledger

    async def list(self) -> list[Position]:
        """All that is known."""
        if not self._ledger.path.exists():
            return []
        with suppress(VrError):
            return await self._ledger.read(read_known)
        return []

    async def put(self, *positions: Position) -> None:
        """Keep how far journals had come at least."""

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO journal VALUES (?,?,?) ON CONFLICT (name) DO UPDATE"
                " SET opening = excluded.opening, seq = excluded.seq"
                " WHERE excluded.seq > seq",
                [(each.journal, each.opening, each.seq) for each in positions],
            )

        with suppress(VrError):
            await self._ledger.run(write)

    async def forget(self, journals: Collection[str]) -> None:
        """Keep them in mind no more.

        Raises:
            VrError: UNAVAILABLE when the file cannot be written.
        """

        def write(connection: sqlite3.Connection) -> None:
            names = [(name,) for name in journals]
            connection.executemany("DELETE FROM journal WHERE name = ?", names)

        if journals:
            await self._ledger.run(write)


def read_known(connection: sqlite3.Connection) -> list[Position]:
    """All that is known, of a connection to the file."""
    rows = connection.execute("SELECT name, opening, seq FROM journal ORDER BY name")
    return [Position(*row) for row in rows]
