"""Sources kept up to date in the transaction that writes records."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Set as AbstractSet
from typing import TypeVar

from vr_kernel.records import RecordKind
from vr_kernel.state.entries import Entry
from vr_kernel.state.sqlite.journal.mentions import (
    MentionedSources,
    Role,
    Roles,
    given_mentions,
    read_mentions,
)
from vr_kernel.state.sqlite.journal.pins import keep_pinning
from vr_kernel.state.sqlite.journal.schema import Row, count_above, highest_seq, is_indexed
from vr_kernel.state.sqlite.journal.sources import (
    Place,
    Sourced,
    find_gone,
    find_of_role,
    find_sourced,
    follow,
    read_marks,
    read_roles,
)
from vr_kernel.state.sqlite.journal.writing import is_plain, put_all, put_each

T = TypeVar("T")
_Followed = tuple[Sequence[Sourced], Iterable[MentionedSources]]
Work = Callable[[sqlite3.Connection], T]


class SourceKeeping:
    """Keeps the sources of one journal along with its records.

    A kind whose records name sources has a row with its role in the file, once the sources of all
    its records are kept; it stays when the kind's plugin is removed. What other programs recorded
    without keeping sources, such as an earlier version, is taken in with the next write.

    Args:
        kinds: those that are declared, by name.
        later: runs work that writes, when nothing else waits.
    """

    def __init__(
        self, kinds: Mapping[str, RecordKind], later: Callable[[Work[None]], object]
    ) -> None:
        self._kinds, self._later, self._asked = kinds, later, False

    def put(
        self, connection: sqlite3.Connection, entries: Sequence[Entry], rows: Sequence[Row]
    ) -> int:
        """Write entries, each with its row; returns the highest sequence number."""
        before, roles = self._ready(connection, {entry.kind for entry in entries})
        write = _put_plain if is_plain(entries) else _put_each
        gone, said = write(connection, entries, rows, before, roles)
        last = highest_seq(connection)
        follow(connection, gone, said, last)
        return last

    def keep(
        self, connection: sqlite3.Connection, work: Work[T], places: Iterable[Place] | None = None
    ) -> T:
        """Do work that writes these records and no others, or any."""
        before, roles = self._ready(connection)
        replaced = None if places is None else _sourced(connection, places, roles)
        done = work(connection)
        gone, said = find_gone(connection, replaced), read_mentions(connection, before, roles)
        follow(connection, gone, said, highest_seq(connection))
        return done

    def is_complete(self, connection: sqlite3.Connection) -> bool:
        """True when the file has the sources of all records whose kinds are declared."""
        last, kept = read_marks(connection)
        return not last or (last == kept and not self._lacking(read_roles(connection)))

    def complete(self, connection: sqlite3.Connection) -> None:
        """Find the sources of records that were written before their kind was declared so."""
        self._asked = True
        last, roles = self._ready(connection)
        lacking = self._lacking(roles)
        former = [roles[kind].number for kind in lacking if kind in roles]
        gone = [each for role in former for each in find_of_role(connection, role)]
        follow(connection, gone, (), last)
        for kind in lacking:
            _put_role(connection, self._kinds[kind])
        new = {
            kind: role
            for kind, role in read_roles(connection).items()
            if kind in lacking and _may_have(connection, kind)
        }
        follow(connection, (), read_mentions(connection, 0, new), last)

    def _ready(
        self, connection: sqlite3.Connection, written: AbstractSet[str] = frozenset()
    ) -> tuple[int, dict[str, Role]]:
        """Prepare for records of these kinds; returns the last number and the roles that are kept.

        A kind that has no records yet needs nothing but its role. Records that are there already
        are looked through later.
        """
        keep_pinning(connection, self._kinds)
        last, kept = read_marks(connection)
        roles = read_roles(connection)
        if last != kept:
            said = read_mentions(connection, kept, roles)
            follow(connection, find_gone(connection), said, last)
        if lacking := self._lacking(roles):
            new = [kind for kind in lacking if kind not in roles and (not last or kind in written)]
            for kind in new:
                if not last or not _may_have(connection, kind):
                    _put_role(connection, self._kinds[kind])
            roles = read_roles(connection) if new else roles
            if not self._asked and self._lacking(roles):
                self._asked = True
                self._later(self.complete)
        return last, roles

    def _lacking(self, roles: Roles) -> set[str]:
        """The declared kinds that have another role than is kept."""
        return {
            name
            for name, kind in self._kinds.items()
            if (roles[name][1:] if name in roles else None)
            != (None if kind.source is None else (kind.source, kind.title))
        }


def _put_plain(
    connection: sqlite3.Connection,
    entries: Sequence[Entry],
    rows: Sequence[Row],
    before: int,
    roles: Roles,
) -> _Followed:
    """Put entries that replace the records with their keys."""
    gone: list[Sourced] = []
    put_all(connection, rows, lambda some: gone.extend(_sourced(connection, some, roles)))
    if not highest_seq(connection) - before == len(rows) == count_above(connection, before):
        return gone, read_mentions(connection, before, roles)  # some have equal keys
    numbered = enumerate(entries, before + 1)
    written = ((seq, entry.kind, entry.fields) for seq, entry in numbered)
    return gone, [given_mentions(written, rows, roles)]


def _put_each(
    connection: sqlite3.Connection,
    entries: Sequence[Entry],
    rows: Sequence[Row],
    _before: int,
    roles: Roles,
) -> _Followed:
    """Put entries of which some are merged, deleted or keep a history."""
    replaced = _sourced(connection, rows, roles)
    written = put_each(connection, entries, rows)
    return find_gone(connection, replaced), [given_mentions(written, rows, roles)]


def _sourced(
    connection: sqlite3.Connection, rows: Iterable[Row | Place], roles: Roles
) -> list[Sourced]:
    """The rows of those records that name a source; only of kinds with a role some do."""
    return find_sourced(connection, [row[:3] for row in rows if row[1] in roles])


def _put_role(connection: sqlite3.Connection, kind: RecordKind) -> None:
    if kind.source is None:
        connection.execute("DELETE FROM source_role WHERE kind = ?", (kind.name,))
        return
    connection.execute(
        "INSERT INTO source_role (kind, source, title) VALUES (?,?,?)"
        " ON CONFLICT (kind) DO UPDATE SET source = excluded.source, title = excluded.title",
        (kind.name, kind.source, kind.title),
    )


def _may_have(connection: sqlite3.Connection, kind: str) -> bool:
    """Return False when there is no record of a kind; True, too, when that takes long to say."""
    if not is_indexed(connection):
        return True
    found = connection.execute("SELECT 1 FROM record WHERE kind = ? LIMIT 1", (kind,))
    return found.fetchone() is not None
