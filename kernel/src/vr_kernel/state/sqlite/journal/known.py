"""Positions of journals that this state folder had, kept outside the journal."""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Callable, Iterable
from contextlib import suppress
from functools import partial

from vr_kernel.errors import VrError
from vr_kernel.state.journal import Position
from vr_kernel.storage.database import Database
from vr_kernel.storage.sound_rows import is_sound


class NotAttendedError(Exception):
    """The journal's file is not the one that was checked before the write."""


class Known:
    """Positions of journals: those kept in the ledger, and those in memory.

    The ledger is written once per journal and when a program ends, which costs little. Without it
    only positions in memory are known, and nothing fails.

    What is accepted as lost is marked as given up there, so that other processes drop it from
    memory, too. If they meet it again after that, it is missed again.

    Attributes:
        latest: the position after this process's last write; None before its first.

    Args:
        ledger: the job ledger's file; None for a journal that stands alone.
    """

    def __init__(self, ledger: Database | None) -> None:
        self.latest: Position | None = None
        self._ledger = ledger
        self._heard: list[Position] = []
        self._given_up: dict[str, str] = {}

    async def all(self) -> list[Position]:
        """All known positions."""
        kept = await self._kept()
        furthest = {each.journal: each.seq for each in kept}
        mind = [*self._heard, *([self.latest] if self.latest else [])]
        return kept + [each for each in mind if each.seq > furthest.get(each.journal, 0)]

    def hear(self, positions: Iterable[Position]) -> None:
        """Remember the positions that a store knows, instead of those it gave before."""
        self._heard = [*positions]

    async def put(self, *positions: Position | None) -> None:
        """Keep positions that journals have reached, except for journals given up since then."""
        rows = [
            (each.journal, each.opening, each.seq, self._given_up.get(each.journal))
            for each in positions
            if each is not None
        ]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "INSERT INTO journal SELECT ?1, ?2, ?3 WHERE NOT EXISTS"
                " (SELECT 1 FROM given_up WHERE journal = ?1 AND acceptance IS NOT ?4)"
                " ON CONFLICT (name) DO UPDATE"
                " SET opening = excluded.opening, seq = excluded.seq"
                " WHERE excluded.seq > seq",
                rows,
            )

        if self._ledger and rows:
            with suppress(VrError):
                await self._ledger.run(write)

    async def forget_others(self, journal: str) -> None:
        """Give up every journal but that one, for all processes.

        Raises:
            VrError: UNAVAILABLE when the file cannot be written.
        """
        others = {each.journal for each in await self.all()} - {journal}
        acceptance = uuid.uuid4().hex

        def write(connection: sqlite3.Connection) -> None:
            known = [each.journal for each in read_known(connection)]
            connection.executemany(
                "INSERT OR IGNORE INTO given_up VALUES (?,'')",
                [(name,) for name in others.union(known)],
            )
            connection.execute("DELETE FROM given_up WHERE journal = ?", (journal,))
            # Also those given up before: other processes may have heard of one meanwhile.
            connection.execute("UPDATE given_up SET acceptance = ?", (acceptance,))
            connection.execute("DELETE FROM journal WHERE name <> ?", (journal,))

        self._heard = []
        if self.latest and self.latest.journal != journal:
            self.latest = None
        if self._ledger:
            await self._ledger.run(write)

    async def _kept(self) -> list[Position]:
        if self._ledger and self._ledger.path.exists():
            with suppress(VrError):
                kept, given_up = await self._ledger.read(partial(_read_all, self._ledger.leave_out))
                self._drop(given_up)
                return kept
        return []

    def _drop(self, given_up: dict[str, str]) -> None:
        """Drop journals that were given up since."""
        gone = {name for name in given_up if given_up[name] != self._given_up.get(name)}
        self._given_up = given_up
        self._heard = [each for each in self._heard if each.journal not in gone]
        if self.latest and self.latest.journal in gone:
            self.latest = None


def read_known(
    connection: sqlite3.Connection, leave_out: Callable[[str, object], None] = lambda *_: None
) -> list[Position]:
    """Read all known positions from a connection to the ledger; damaged ones are left out."""
    known = []
    for row in connection.execute("SELECT name, opening, seq FROM journal ORDER BY name"):
        if is_sound(row, (str, str, int)):
            known.append(Position(*row))
        else:
            leave_out("journal", row[0])
    return known


def _read_all(
    leave_out: Callable[[str, object], None], connection: sqlite3.Connection
) -> tuple[list[Position], dict[str, str]]:
    # An earlier version had no such table, and it is not made where nothing may be written.
    there = connection.execute("SELECT 1 FROM sqlite_master WHERE name = 'given_up'").fetchone()
    rows = connection.execute("SELECT * FROM given_up").fetchall() if there else ()
    return read_known(connection, leave_out), dict(rows)
