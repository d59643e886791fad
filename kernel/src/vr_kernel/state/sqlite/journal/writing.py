"""Writing of entries: replaces a record, merges into it, or keeps it as a former version."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Iterable, Mapping, Sequence
from datetime import UTC, datetime
from itertools import chain
from typing import Any

from vr_kernel.state.entries import Entry, merge_fields, require_names, says_the_same
from vr_kernel.state.sqlite.journal.reading import read_document
from vr_kernel.state.sqlite.journal.schema import ADD, PUT, Row, highest_seq, move_sources
from vr_kernel.storage.sound_rows import is_sound

MANY = 250
"""Records that one statement writes."""
Written = tuple[int, str, Mapping[str, Any] | None]
"""A record that was written: its number and its kind, and its fields as they are then."""
_SEVERAL = "{}" + ",(?,?,?,?,?,?)" * (MANY - 1)
_OF_KEY = "workspace = ? AND kind = ? AND key = ?"
_ENCODER = json.JSONEncoder(ensure_ascii=False)


def made_rows(entries: Sequence[Entry], workspace: str, provenance: Mapping[str, Any]) -> list[Row]:
    """Return the row of each entry, made now.

    Raises:
        VrError: INVALID_INPUT, as `require_names`.
        TypeError: for fields that are no JSON.
    """
    require_names(workspace, entries)
    created_at = datetime.now(UTC).isoformat(timespec="microseconds")
    common = _ENCODER.encode({**provenance})
    return [
        (
            workspace,
            entry.kind,
            entry.key,
            None if entry.fields is None else _ENCODER.encode(entry.fields),
            _ENCODER.encode({**entry.provenance, **provenance}) if entry.provenance else common,
            created_at,
        )
        for entry in entries
    ]


def is_plain(entries: Sequence[Entry]) -> bool:
    """True when each entry replaces the record with its key, and nothing else."""
    return not any(entry.merge or entry.history or entry.fields is None for entry in entries)


def put_all(
    connection: sqlite3.Connection,
    rows: Sequence[Row],
    replacing: Callable[[Sequence[Row]], object] = lambda _rows: None,
) -> None:
    """Write records in few statements: one per record takes twice as long next to other threads.

    `replacing` is called with rows before they are written, if some replace a record.
    """
    whole = len(rows) - len(rows) % MANY
    for start in range(0, whole, MANY):
        some = rows[start : start + MANY]
        flat = tuple(chain.from_iterable(some))
        try:
            connection.execute(_SEVERAL.format(ADD), flat)
        except sqlite3.IntegrityError:  # one has the key of another
            replacing(some)
            connection.execute(_SEVERAL.format(PUT), flat)
    try:
        connection.executemany(ADD, rows[whole:])
    except sqlite3.IntegrityError:
        replacing(rows[whole:])
        connection.executemany(PUT, rows[whole:])


def put_each(
    connection: sqlite3.Connection, entries: Sequence[Entry], rows: Sequence[Row]
) -> Iterable[Written]:
    """Write entries one by one, each with its row; returns the records as they are then."""
    written: dict[tuple[str, str, str], Written] = {}
    for entry, row in zip(entries, rows, strict=True):
        seq, fields = write_one(connection, entry, row)
        if seq:
            written.pop(row[:3], None)  # by rising numbers
            written[row[:3]] = (seq, entry.kind, fields)
    return written.values()


def write_one(
    connection: sqlite3.Connection, entry: Entry, row: Row
) -> tuple[int, Mapping[str, Any] | None]:
    """Write one entry: replace, merge or keep history, as it says.

    Returns the number of the record, 0 for a former version, and the fields that it has then.
    """
    if entry.fields is None:
        forget_former(connection, row[:3])
        return put_one(connection, row), None
    fields = entry.fields
    if entry.merge:
        row, fields = over(connection, row)
    put = put_newer if entry.history else put_one
    return put(connection, row), fields


def put_one(connection: sqlite3.Connection, row: Row) -> int:
    """Write a row; returns its sequence number."""
    return int(connection.execute(PUT, row).lastrowid or 0)


def renumber(connection: sqlite3.Connection, records: Sequence[tuple[str, str, str]]) -> None:
    """Give records, as workspace, kind and key, new sequence numbers."""
    columns = "workspace, kind, key, fields, provenance, created_at"
    connection.executemany(
        f"INSERT OR REPLACE INTO record ({columns})"  # noqa: S608 - constant text
        f" SELECT {columns} FROM record WHERE {_OF_KEY}",
        records,
    )


def over(connection: sqlite3.Connection, row: Row) -> tuple[Row, dict[str, Any]]:
    """Merge a record into the one with its key: null clears a field, fields not named stay."""
    workspace, kind, key, fields, provenance, created_at = row
    known, _, _ = _known(connection, (workspace, kind, key))
    left = merge_fields(known, json.loads(fields or "{}"))
    return (workspace, kind, key, _ENCODER.encode(left), provenance, created_at), left


def put_newer(connection: sqlite3.Connection, row: Row) -> int:
    """Replace an older record, and keep it as a former version; keep an older new one as such.

    Returns its sequence number; 0 for a former version.
    """
    workspace, kind, key, fields, provenance, created_at = row
    known, origin, known_at = _known(connection, (workspace, kind, key))
    given = json.loads(fields or "{}")
    made_at = given.get("created_at", created_at)
    if known and made_at < known_at:
        _keep(connection, (workspace, kind, key, made_at), fields or "{}", provenance)
        return 0
    if known and not says_the_same(known, given):
        _keep(connection, (workspace, kind, key, known_at), _ENCODER.encode(known), origin)
    return put_one(connection, row)


def forget_former(connection: sqlite3.Connection, record: tuple[str, str, str]) -> None:
    """Delete the former versions of a record, given as workspace, kind and key."""
    connection.execute(f"DELETE FROM former WHERE {_OF_KEY}", record)  # noqa: S608 - constant text


def forget_before(
    connection: sqlite3.Connection, workspace: str, before: str, kind: str | None
) -> int:
    """Delete former versions made before that moment, of one kind or all; returns how many."""
    return connection.execute(
        "DELETE FROM former WHERE workspace = ? AND created_at < ? AND kind = coalesce(?, kind)",
        (workspace, before, kind),
    ).rowcount


def shift(connection: sqlite3.Connection, cursor: int) -> None:
    """Give every record a number above `cursor`, where that is above the last one."""
    last = highest_seq(connection)
    if last >= cursor:
        return
    connection.execute("UPDATE record SET seq = seq + ?", (cursor,))
    connection.execute("DELETE FROM sqlite_sequence WHERE name = 'record'")
    renewed = ("record", cursor + last)
    connection.execute("INSERT INTO sqlite_sequence (name, seq) VALUES (?, ?)", renewed)
    move_sources(connection, cursor, 0)


def read_folded(connection: sqlite3.Connection) -> set[str]:
    """Return the kinds that were folded."""
    return {kind for (kind,) in connection.execute("SELECT kind FROM folded")}


def fold(
    connection: sqlite3.Connection, kind: str, key_of: Callable[[Mapping[str, Any]], str]
) -> None:
    """Move the records of a kind to the keys it gives now, once; of equal keys the newest stays.

    `key_of` recognises records of an earlier version, each of which had a key of its own.
    """
    if connection.execute("SELECT 1 FROM folded WHERE kind = ?", (kind,)).fetchone():
        return
    rows = connection.execute(
        "SELECT workspace, kind, key, fields, provenance, created_at FROM record"
        " WHERE kind = ? AND fields IS NOT NULL ORDER BY created_at",
        (kind,),
    ).fetchall()
    now = datetime.now(UTC).isoformat(timespec="microseconds")
    for workspace, _, key, fields, provenance, created_at in rows:
        stated = read_document(fields)
        rest = (workspace, key, provenance, created_at)
        if stated is None or not is_sound(rest, (str,) * 4):  # damaged: it stays as it is
            continue
        own = key_of(stated)
        if own in ("", key):
            continue
        stated.setdefault("created_at", created_at)
        put_newer(
            connection, (workspace, kind, own, _ENCODER.encode(stated), provenance, created_at)
        )
        connection.execute(PUT, (workspace, kind, key, None, provenance, now))
    connection.execute("INSERT OR IGNORE INTO folded VALUES (?)", (kind,))


def _known(
    connection: sqlite3.Connection, record: tuple[str, str, str]
) -> tuple[dict[str, Any], str, str]:
    """Fields, provenance and time of a record; empty for none."""
    row = connection.execute(
        f"SELECT fields, provenance, created_at FROM record WHERE {_OF_KEY}",  # noqa: S608 - constant text
        record,
    ).fetchone()
    if row is None or row[0] is None:
        return {}, "{}", ""
    fields = read_document(row[0])
    if fields is None:  # damaged: what is written now replaces it
        return {}, "{}", ""
    return fields, row[1], fields.get("created_at", row[2])


def _keep(
    connection: sqlite3.Connection, place: tuple[str, str, str, str], fields: str, origin: str
) -> None:
    connection.execute(
        "INSERT OR REPLACE INTO former VALUES (?,?,?,?,?,?)", (*place, fields, origin)
    )
