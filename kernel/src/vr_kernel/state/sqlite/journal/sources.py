"""Rows of sources: one for each video, file or page that live records are about."""

from __future__ import annotations

import sqlite3
from collections import Counter
from collections.abc import Iterable, Sequence
from itertools import chain

from vr_kernel.records import entity_key
from vr_kernel.state.sqlite.journal.mentions import MentionedSources, Role
from vr_kernel.state.sqlite.journal.reading import read_document

MANY = 250
"""Rows of one statement."""
FEW = 8
"""Records that one statement puts no faster than several."""
Place = tuple[str, str, str]
"""Workspace, kind and key of a record."""
Sourced = tuple[int, int, int, str]
"""The row of a record that names a source: its number, those of source and role, and its time."""
_SOURCED = "SELECT sourced.seq, sourced.source, role, at FROM sourced"
_MARKS = "SELECT name, seq FROM sqlite_sequence WHERE name IN ('record', 'sourced')"
_NUMBER = "SELECT number FROM source WHERE workspace = ? AND source = ?"
_PUT = (
    "INSERT INTO source (first_at, last_at, seq, titled, title, workspace, source, id)"
    " VALUES (?,?,?,?,?,?,?,?)"
)
_CHANGE = (
    "UPDATE source SET first_at = min(first_at, ?1), last_at = max(last_at, ?2),"
    " seq = max(seq, ?3), title = CASE WHEN ?4 > titled THEN ?5 ELSE title END,"
    " titled = max(titled, ?4) WHERE number = ?6"
)
_PUT_SOURCED = "INSERT OR REPLACE INTO sourced (seq, source, role, at)"
_PUT_ALIKE = f"{_PUT_SOURCED} SELECT seq, ?, ?, ? FROM record WHERE seq BETWEEN ? AND ?"  # noqa: S608 - constant text
_COUNT = (
    "INSERT INTO source_kind (source, role, records) VALUES (?,?,?)"
    " ON CONFLICT (source, role) DO UPDATE SET records = records + excluded.records"
)
_UNTITLED = (
    "SELECT 1 FROM source WHERE number = ? AND titled > 0"
    " AND NOT EXISTS (SELECT 1 FROM sourced WHERE sourced.seq = titled)"
)
_TITLES = (
    "SELECT record.seq, record.fields, source_role.title FROM sourced"
    " JOIN record ON record.seq = sourced.seq"
    " JOIN source_role ON source_role.number = sourced.role AND source_role.title IS NOT NULL"
    " WHERE sourced.source = ? ORDER BY sourced.seq DESC"
)


def read_marks(connection: sqlite3.Connection) -> tuple[int, int]:
    """Return the last number of the records, and the last one up to which sources were kept."""
    marks: dict[str, int] = dict(connection.execute(_MARKS).fetchall())
    return marks.get("record", 0), marks.get("sourced", 0)


def put_mark(connection: sqlite3.Connection, seq: int) -> None:
    """Note that the sources of all records up to this number are kept."""
    change = "UPDATE sqlite_sequence SET seq = ? WHERE name = 'sourced'"
    if not connection.execute(change, (seq,)).rowcount:
        connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES ('sourced', ?)", (seq,))


def read_roles(connection: sqlite3.Connection) -> dict[str, Role]:
    """Return the roles of kinds whose sources are kept."""
    rows = connection.execute("SELECT kind, number, source, title FROM source_role")
    return {kind: Role(number, source, title) for kind, number, source, title in rows}


def find_sourced(connection: sqlite3.Connection, places: Iterable[Place]) -> list[Sourced]:
    """Return the rows of those records among these that name a source."""
    keys: dict[tuple[str, str], list[str]] = {}
    for workspace, kind, key in dict.fromkeys(places):
        keys.setdefault((workspace, kind), []).append(key)
    found: list[Sourced] = []
    for place, wanted in keys.items():
        for start in range(0, len(wanted), MANY):
            some = wanted[start : start + MANY]
            where = f"workspace = ? AND kind = ? AND key IN ({','.join('?' * len(some))})"
            named = f"{_SOURCED} JOIN record ON record.seq = sourced.seq WHERE {where}"
            found += connection.execute(named, (*place, *some))
    return found


def find_gone(
    connection: sqlite3.Connection, among: Iterable[Sourced] | None = None
) -> list[Sourced]:
    """Return the rows, of some or of all, whose records have another number now, or none."""
    if among is None:
        gone = "NOT EXISTS (SELECT 1 FROM record WHERE record.seq = sourced.seq)"
        return connection.execute(f"{_SOURCED} WHERE {gone}").fetchall()
    there = "SELECT 1 FROM record WHERE seq = ?"
    return [each for each in among if connection.execute(there, each[:1]).fetchone() is None]


def find_of_role(connection: sqlite3.Connection, role: int) -> list[Sourced]:
    """Return the rows of all records with that role."""
    return connection.execute(f"{_SOURCED} WHERE role = ?", (role,)).fetchall()


def follow(
    connection: sqlite3.Connection,
    gone: Sequence[Sourced],
    said: Iterable[MentionedSources],
    last: int,
) -> None:
    """Let sources follow records that were written, up to the number `last`.

    Args:
        connection: in the transaction that wrote them.
        gone: the rows of records that were replaced or deleted.
        said: what the new ones say.
        last: the highest sequence number.
    """
    _remove(connection, gone)
    for mentioned in said:
        _add(connection, mentioned)
    _settle(connection, gone)
    put_mark(connection, last)


def _remove(connection: sqlite3.Connection, gone: Sequence[Sourced]) -> None:
    """Take records off the sources that they named."""
    connection.executemany("DELETE FROM sourced WHERE seq = ?", [(each[0],) for each in gone])
    lost = Counter([each[1:3] for each in gone])
    less = "UPDATE source_kind SET records = records - ? WHERE source = ? AND role = ?"
    connection.executemany(less, [(records, *place) for place, records in lost.items()])
    none = "DELETE FROM source_kind WHERE source = ? AND role = ? AND records <= 0"
    connection.executemany(none, [*lost])


def _add(connection: sqlite3.Connection, mentioned: MentionedSources) -> None:
    """Add records to the sources that they name."""
    counts: list[tuple[int, int, int]] = []
    rows: list[tuple[int, int, int, str]] = []
    for place, said in mentioned.items():
        seqs, roles, times = zip(*said.records, strict=True)
        first_at, last_at, role = min(times), max(times), roles[0]
        number = _put_source(connection, place, (first_at, last_at, seqs[-1], *said.titled))
        of_role = {each: roles.count(each) for each in {*roles}}
        counts += [(number, each, records) for each, records in of_role.items()]
        alike = first_at == last_at and len(of_role) == 1
        if alike and FEW < len(seqs) == 1 + seqs[-1] - seqs[0]:
            connection.execute(_PUT_ALIKE, (number, role, first_at, seqs[0], seqs[-1]))
        else:
            rows += [(seq, number, role, at) for seq, role, at in said.records]
    connection.executemany(_COUNT, counts)
    _put_sourced(connection, sorted(rows))  # rows that come last are put fastest


def _put_source(
    connection: sqlite3.Connection, place: tuple[str, str], values: tuple[object, ...]
) -> int:
    """Make or change the row of a source, by workspace and name; returns its number."""
    row = connection.execute(_NUMBER, place).fetchone()
    if row is None:
        put = connection.execute(_PUT, (*values, *place, entity_key("source", place[1])))
        return int(put.lastrowid or 0)
    connection.execute(_CHANGE, (*values, row[0]))
    return int(row[0])


def _put_sourced(connection: sqlite3.Connection, rows: list[tuple[int, int, int, str]]) -> None:
    put = f"{_PUT_SOURCED} VALUES (?,?,?,?)"
    whole = len(rows) - len(rows) % MANY
    several = put + ",(?,?,?,?)" * (MANY - 1)
    for start in range(0, whole, MANY):
        connection.execute(several, tuple(chain.from_iterable(rows[start : start + MANY])))
    connection.executemany(put, rows[whole:])


def _settle(connection: sqlite3.Connection, gone: Iterable[Sourced]) -> None:
    """Bring sources up to date that lost records."""
    lost: dict[int, list[str]] = {}
    for _, source, _, at in gone:
        lost.setdefault(source, []).append(at)
    for number, times in lost.items():
        _settle_one(connection, number, min(times), max(times))


def _settle_one(connection: sqlite3.Connection, number: int, first: str, last: str) -> None:
    """Bring a source up to date that lost records of these times; remove it when it has none."""
    one = connection.execute
    if one("SELECT 1 FROM source_kind WHERE source = ? LIMIT 1", (number,)).fetchone() is None:
        one("DELETE FROM source WHERE number = ?", (number,))
        return
    highest = "SELECT max(sourced.seq) FROM sourced WHERE sourced.source = number"
    one(f"UPDATE source SET seq = ({highest}) WHERE number = ?", (number,))  # noqa: S608 - constant text
    if one(_UNTITLED, (number,)).fetchone():
        change = "UPDATE source SET titled = ?, title = ? WHERE number = ?"
        one(change, (*_title(one(_TITLES, (number,))), number))
    known = one("SELECT first_at, last_at FROM source WHERE number = ?", (number,)).fetchone()
    if known is not None and (first <= known[0] or last >= known[1]):
        times = one("SELECT min(at), max(at) FROM sourced WHERE source = ?", (number,)).fetchone()
        one("UPDATE source SET first_at = ?, last_at = ? WHERE number = ?", (*times, number))


def _title(rows: Iterable[tuple[int, str, str]]) -> tuple[int, str]:
    """The number of the first record that gives a title, and the title."""
    for seq, fields, name in rows:
        title = (read_document(fields) or {}).get(name)
        if isinstance(title, str) and title and not title.isspace():
            return seq, title
    return 0, ""
