"""Known beside the journal: which journals this state folder had, and how far they had come."""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable
from contextlib import suppress

from vr_kernel.database import Database
from vr_kernel.errors import VrError
from vr_kernel.journal.lineage import Position


class NotAttendedError(Exception):
    """The journal's file is another one than was looked at before it was written."""


class Known:
    """Positions of journals: those kept in a file that is not the journal's, and those in mind.

    That file is written once a journal and when a program ends: rarely enough to cost nothing.
    Without it only what is in mind is known, and nothing fails.

    Attributes:
        latest: where this process came to when it wrote last; None before it wrote.

    Args:
        ledger: the job ledger's file; None for a journal that stands alone.
    """

    def __init__(self, ledger: Database | None) -> None:
        self.latest: Position | None = None
        self._ledger = ledger
        self._heard: list[Position] = []

    async def all(self) -> list[Position]:
        """All that is known."""
        kept = await self._kept()
        furthest = {each.journal: each.seq for each in kept}
        mind = [*self._heard, *([self.latest] if self.latest else [])]
        return kept + [each for each in mind if each.seq > furthest.get(each.journal, 0)]

    def hear(self, positions: Iterable[Position]) -> None:
        """Take in what a store knows, in the place of what it said before."""
        self._heard = [*positions]

    async def put(self, *positions: Position | None) -> None:
        """Keep how far journals had come at least."""
        rows = [(each.journal, each.opening, each.seq) for each in positions if each is not None]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO journal VALUES (?,?,?) ON CONFLICT (name) DO UPDATE"
                " SET opening = excluded.opening, seq = excluded.seq"
                " WHERE excluded.seq > seq",
                rows,
            )

        if self._ledger and rows:
            with suppress(VrError):
                await self._ledger.run(write)

    async def forget_others(self, journal: str) -> None:
        """Keep no journal in mind any more but that one.

        Raises:
            VrError: UNAVAILABLE when the file cannot be written.
        """
        self.latest, self._heard = None, []
        if self._ledger and any(each.journal != journal for each in await self._kept()):
            sql = "DELETE FROM journal WHERE name <> ?"
            await self._ledger.run(lambda connection: connection.execute(sql, (journal,)) and None)

    async def _kept(self) -> list[Position]:
        if self._ledger and self._ledger.path.exists():
            with suppress(VrError):
                return await self._ledger.read(read_known)
        return []


def read_known(connection: sqlite3.Connection) -> list[Position]:
    """All that is known, of a connection to the file."""
    rows = connection.execute("SELECT name, opening, seq FROM journal ORDER BY name")
    return [Position(*row) for row in rows]
