"""Rows of the journal: read back, and left out when they are damaged."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Sequence
from itertools import zip_longest
from typing import Any, NamedTuple

from vr_kernel.records import Change, is_storable
from vr_kernel.state.sqlite.journal.lineage import openings
from vr_kernel.state.sqlite.journal.schema import is_indexed
from vr_kernel.storage.sound_rows import is_sound, is_text

LeaveOut = Callable[[str, object], None]
"""Called with the table and the key of a damaged row."""
MOST_MERGED = 100
"""Most kinds that are looked up one by one; more are most of the journal, which is then read."""
CHANGES = "SELECT seq, workspace, kind, key, fields, provenance, created_at FROM record"
_TYPES = (int, str, str, str, (str, type(None)), str, str)


class Choice(NamedTuple):
    """The kinds and the workspace of the changes to read; all when empty or None."""

    kinds: Collection[str] = ()
    workspace: str | None = None

    def statement(self, after: int, limit: int, *, indexed: bool) -> tuple[str, list[Any]]:
        """Return the statement that reads up to `limit` changes above `after`, and its values.

        Args:
            after: a sequence number.
            limit: of changes.
            indexed: the file has the index by kind.
        """
        where = "seq > ?"
        values: list[Any] = [after]
        if self.workspace is not None:
            where, values = "seq > ? AND +workspace = ?", [after, self.workspace]
        kinds = sorted({*self.kinds})
        if kinds and indexed and len(kinds) <= MOST_MERGED:
            # One scan of the index for each kind, all in order: they are merged without sorting.
            one = f"SELECT seq FROM record INDEXED BY record_by_kind WHERE kind = ? AND {where}"  # noqa: S608 - constant text
            merged = f"{' UNION ALL '.join([one] * len(kinds))} ORDER BY 1 LIMIT ?"
            where = f"seq IN (SELECT seq FROM ({merged}))"  # noqa: S608 - constant text
            values = [*(value for kind in kinds for value in (kind, *values)), limit]
        elif kinds:
            where = f"{where} AND +kind IN ({','.join('?' * len(kinds))})"
            values = [*values, *kinds]
        return f"{CHANGES} WHERE {where} ORDER BY seq LIMIT ?", [*values, limit]


def read_after(
    connection: sqlite3.Connection, choice: Choice, after: int, limit: int, leave_out: LeaveOut
) -> list[Change]:
    """Up to `limit` changes above that number, rising; empty only when no sound one is left."""
    indexed = bool(choice.kinds) and is_indexed(connection)
    while True:
        rows = connection.execute(*choice.statement(after, limit, indexed=indexed)).fetchall()
        found = sound_changes(rows, leave_out, openings(connection, [row[0] for row in rows]))
        if found or len(rows) < limit:
            return found
        after = rows[-1][0]


def read_keys(connection: sqlite3.Connection, kind: str, workspace: str) -> list[str]:
    """The keys of all records of a kind, sorted."""
    rows = connection.execute(
        "SELECT key FROM record WHERE workspace = ? AND kind = ? AND fields IS NOT NULL"
        " ORDER BY key",
        (workspace, kind),
    )
    return [key for (key,) in rows if isinstance(key, str) and is_text(key)]


def read_former(
    connection: sqlite3.Connection, place: tuple[str, str, str], leave_out: LeaveOut
) -> list[Change]:
    """Former versions of a record, by workspace, kind and key, the latest first."""
    rows = connection.execute(
        "SELECT 0, workspace, kind, key, fields, provenance, created_at FROM former"
        " WHERE workspace = ? AND kind = ? AND key = ? ORDER BY created_at DESC",
        place,
    )
    return _sound("former", rows.fetchall(), leave_out, ())


def read_one(
    connection: sqlite3.Connection, place: tuple[str, str, str], leave_out: LeaveOut
) -> Change | None:
    """One live record, by workspace, kind and key; None when there is none, or it is damaged."""
    if not all(map(is_storable, place)):  # no record can have such a name
        return None
    rows = connection.execute(
        f"{CHANGES} WHERE workspace = ? AND kind = ? AND key = ? AND fields IS NOT NULL", place
    ).fetchall()
    names = openings(connection, [row[0] for row in rows])
    return next(iter(sound_changes(rows, leave_out, names)), None)


def sound_changes(
    rows: Sequence[tuple[Any, ...]], leave_out: LeaveOut, names: Sequence[str]
) -> list[Change]:
    """Changes of these rows, each with the name of its opening; damaged ones are left out."""
    return _sound("record", rows, leave_out, names)


def read_document(text: Any) -> dict[str, Any] | None:
    """A JSON object that was kept; None when it is damaged."""
    try:
        document = json.loads(text) if is_sound((text,), (str,)) else None
    except (ValueError, RecursionError):
        return None
    return document if isinstance(document, dict) else None


def _sound(
    table: str, rows: Sequence[tuple[Any, ...]], leave_out: LeaveOut, names: Sequence[str]
) -> list[Change]:
    found = []
    for row, opening in zip_longest(rows, names, fillvalue=""):
        change = _change(tuple(row), opening)
        if change is not None:
            found.append(change)
        else:
            leave_out(table, row[0] or row[2:4])
    return found


def _change(row: tuple[Any, ...], opening: str) -> Change | None:
    if not is_sound(row, _TYPES):
        return None
    seq, workspace, kind, key, fields, provenance, created_at = row
    stated, origin = read_document(fields), read_document(provenance)
    if origin is None or (stated is None and fields is not None):
        return None
    return Change(seq, workspace, kind, key, stated, origin, created_at, opening)
