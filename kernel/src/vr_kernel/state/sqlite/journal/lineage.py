"""The lines of numbers that a journal went through, and the openings that gave them out.

A line is the journal's identity. It ends where a copy of the file diverges from the file: what is
recorded from there on has another identity, so that no store takes it for what it has already. An
opening belongs to one process; with it, a number shows whether it was given out in this file.
"""

from __future__ import annotations

import sqlite3
import uuid
from collections.abc import Sequence
from datetime import UTC, datetime
from typing import Any

from vr_kernel.state.journal import Position
from vr_kernel.state.sqlite.journal.schema import highest_seq, move_sources

# The newest opening gave out the last number, and its record is there.
_KNOWN = (
    "SELECT journal, opening, given.seq FROM sqlite_sequence given, lineage WHERE name = 'record'"
    " AND lineage.seq = (SELECT max(seq) FROM lineage) AND lineage.seq < given.seq"
    " AND EXISTS (SELECT 1 FROM record WHERE record.seq = given.seq)"
)


def new_opening() -> str:
    """A name for an opening; later ones sort after earlier ones."""
    return f"{datetime.now(UTC).isoformat(timespec='microseconds')} {uuid.uuid4().hex[:8]}"


class Lineage:
    """Lines of a journal, as one transaction sees them.

    Attributes:
        journal: the identity, empty as long as there is none.
        last: the highest number given out.
        begun: the number after which the present line began.
        home: the state folder in which the journal was begun; empty as long as that is not known.
    """

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection
        self.last = highest_seq(connection)
        self.journal = str(self._one("SELECT journal FROM lineage ORDER BY seq DESC LIMIT 1") or "")
        begun = self._one("SELECT min(seq) FROM lineage WHERE journal = ?", self.journal)
        # Records that are older than lines belong to the first line.
        first = self._one("SELECT min(seq) FROM lineage")
        self.begun = 0 if begun == first else int(begun or 0)
        self.home = str(self._one("SELECT home FROM lineage ORDER BY seq LIMIT 1") or "")

    @property
    def position(self) -> Position:
        """The position of the journal; without an opening while its line has given out nothing."""
        sql = (
            "SELECT opening FROM lineage WHERE journal = ? AND seq < ? AND EXISTS"
            " (SELECT 1 FROM record WHERE record.seq > ?) ORDER BY seq DESC LIMIT 1"
        )
        opening = self._one(sql, self.journal, self.last, self.begun)
        return Position(self.journal, str(opening or ""), self.last)

    @property
    def known(self) -> Position:
        """The position that would be missed if the file were lost: a number, or just a name."""
        here = self.position
        return here if here.opening else Position(self.journal, "", 0)

    def knows(self, journal: str) -> bool:
        """True for a line of this journal, the present one or an earlier one."""
        return self._one("SELECT 1 FROM lineage WHERE journal = ?", journal) is not None

    def covers(self, position: Position) -> bool:
        """Say if this file gave out that number, in that opening."""
        start: int | None = self._start(position)
        if start is None and not position.opening:
            start = self._one("SELECT max(seq) FROM lineage WHERE journal = ?", position.journal)
        return start is not None and position.seq <= self._end(start)

    def agreed(self, position: Position) -> int:
        """The number up to which this file and the one that gave out that number are the same."""
        start = self._start(position)
        if start is not None:
            return min(position.seq, self._end(start))
        later = self._one("SELECT min(seq) FROM lineage WHERE opening > ?", position.opening)
        return min(position.seq, self.last if later is None else int(later))

    def diverge(self, agreed: int, known: int, opening: str, home: str) -> None:
        """Begin a new line after the number `agreed`; its numbers are above `known`.

        Records that came after `agreed` get new numbers too, in their order.
        """
        base = max(known, self.last)
        change = self._connection.execute
        kept = self._one("SELECT home FROM lineage WHERE seq = ?", agreed)
        change("UPDATE record SET seq = seq + ? WHERE seq > ?", (base - agreed, agreed))
        change("DELETE FROM lineage WHERE seq >= ?", (agreed,))
        begun = (agreed, str(uuid.uuid4()), opening, home if kept is None else kept)
        change("INSERT INTO lineage VALUES (?,?,?,?)", begun)
        change("DELETE FROM sqlite_sequence WHERE name = 'record'")
        last = base + self.last - agreed
        change("INSERT INTO sqlite_sequence (name, seq) VALUES ('record', ?)", (last,))
        move_sources(self._connection, base - agreed, agreed)

    def _start(self, position: Position) -> int | None:
        # A store that starts over in a line also gets numbers of earlier lines.
        found = self._one("SELECT seq FROM lineage WHERE opening = ?", position.opening)
        return None if found is None else int(found)

    def _end(self, start: int) -> int:
        after = self._one("SELECT min(seq) FROM lineage WHERE seq > ?", start)
        return self.last if after is None else int(after)

    def _one(self, sql: str, *values: object) -> Any:
        row = self._connection.execute(sql, values).fetchone()
        return None if row is None else row[0]


def read_known_position(connection: sqlite3.Connection) -> Position:
    """Return `Lineage.known`, after most writes by one statement."""
    row = connection.execute(_KNOWN).fetchone()
    return Lineage(connection).known if row is None else Position(*row)


def begin(connection: sqlite3.Connection, opening: str, home: str) -> None:
    """Assign the next numbers to this opening; the first opening creates the identity."""
    if connection.execute("SELECT 1 FROM lineage WHERE opening = ?", (opening,)).fetchone():
        return
    there = connection.execute(
        "SELECT journal, home FROM lineage ORDER BY seq DESC LIMIT 1"
    ).fetchone()
    journal = there[0] if there else str(uuid.uuid4())
    last = highest_seq(connection)
    # Of two openings at one number the later one counts: the other gave out nothing.
    kept = connection.execute("SELECT home FROM lineage WHERE seq = ?", (last,)).fetchone()
    place = kept[0] if kept else "" if there else home
    connection.execute(
        "INSERT OR REPLACE INTO lineage VALUES (?,?,?,?)", (last, journal, opening, place)
    )


def openings(connection: sqlite3.Connection, seqs: Sequence[int]) -> list[str]:
    """The openings that gave out these rising numbers; empty for what is older than lineage."""
    if not seqs:
        return []
    rows = connection.execute(
        "SELECT seq, opening FROM lineage WHERE seq < ? AND seq >="
        " (SELECT coalesce(max(seq), 0) FROM lineage WHERE seq < ?) ORDER BY seq",
        (seqs[-1], seqs[0]),
    ).fetchall()
    found, at = [], -1
    for seq in seqs:
        while at + 1 < len(rows) and rows[at + 1][0] < seq:
            at += 1
        found.append(rows[at][1] if at >= 0 else "")
    return found
