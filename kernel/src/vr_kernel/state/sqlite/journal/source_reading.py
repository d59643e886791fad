"""Sources read back, and the records of one."""

from __future__ import annotations

import sqlite3

from vr_kernel.errors import Code, VrError
from vr_kernel.records import Change, Source
from vr_kernel.state.sqlite.journal.lineage import openings
from vr_kernel.state.sqlite.journal.reading import CHANGES, LeaveOut, sound_changes
from vr_kernel.storage.sound_rows import is_sound

_SOURCES = "SELECT number, id, source, title, first_at, last_at, seq FROM source"
_TYPES = (int, str, str, str, str, str, int)
_KINDS = (
    "SELECT kind, records FROM source_kind JOIN source_role ON number = role"
    " WHERE source_kind.source = ? ORDER BY kind"
)
_OF_KIND = (
    " AND EXISTS (SELECT 1 FROM source_kind JOIN source_role ON source_role.number = role"
    " WHERE source_kind.source = source.number AND kind = ?)"
)
_SEQS = (
    "SELECT sourced.seq FROM source JOIN sourced ON sourced.source = source.number"
    " WHERE workspace = ? AND id = ? AND sourced.seq > ? ORDER BY sourced.seq LIMIT ?"
)
_OF_SOURCE = f"{CHANGES} WHERE seq IN ({_SEQS}) ORDER BY seq"


def are_kept(connection: sqlite3.Connection) -> bool:
    """True when the file has room for sources; that of an earlier version has none."""
    question = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'sourced'"
    return connection.execute(question).fetchone() is not None


def read_sources(
    connection: sqlite3.Connection, workspace: str, after: int | None, limit: int, kind: str
) -> list[Source]:
    """Up to `limit` sources with a `seq` below `after`, falling; with `kind` those that have it."""
    require_kept(connection)
    where, values = " WHERE workspace = ?", [workspace]
    more: list[str | int] = [*values]
    if after is not None:
        where, more = f"{where} AND seq < ?", [*more, after]
    if kind:
        where, more = f"{where}{_OF_KIND}", [*more, kind]
    rows = connection.execute(
        f"{_SOURCES}{where} ORDER BY seq DESC LIMIT ?", (*more, max(0, limit))
    )
    return [_made(connection, row) for row in rows.fetchall() if is_sound(row, _TYPES)]


def read_source(connection: sqlite3.Connection, workspace: str, name: str) -> Source | None:
    """One source, by its id."""
    require_kept(connection)
    row = connection.execute(
        f"{_SOURCES} WHERE workspace = ? AND id = ?", (workspace, name)
    ).fetchone()
    return _made(connection, row) if row is not None and is_sound(row, _TYPES) else None


def read_of_source(
    connection: sqlite3.Connection,
    place: tuple[str, str],
    after: int,
    limit: int,
    leave_out: LeaveOut,
) -> list[Change]:
    """Up to `limit` records of a source, by workspace and id, with a number above `after`."""
    require_kept(connection)
    limit = max(0, limit)
    while True:
        rows = connection.execute(_OF_SOURCE, (*place, after, limit)).fetchall()
        found = sound_changes(rows, leave_out, openings(connection, [row[0] for row in rows]))
        if found or len(rows) < limit or not rows:
            return found
        after = rows[-1][0]


def require_kept(connection: sqlite3.Connection) -> None:
    """Require that sources are kept.

    Raises:
        VrError: UNAVAILABLE when the file is of an earlier version, and nothing may be written.
    """
    if not are_kept(connection):
        raise VrError(
            "The journal is of an earlier version, which kept no list of sources.",
            Code.UNAVAILABLE,
            category="SOURCES_UNKNOWN",
            hint="The list is made when the journal is first opened where it can be written.",
        )


def _made(connection: sqlite3.Connection, row: tuple[int, str, str, str, str, str, int]) -> Source:
    number, name, source, title, first_at, last_at, seq = row
    kinds: dict[str, int] = dict(connection.execute(_KINDS, (number,)).fetchall())
    return Source(name, source, title, kinds, first_at, last_at, seq)
