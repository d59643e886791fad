"""The records of the store: written in the order of the journal, and read back unchanged."""

from __future__ import annotations

import json
import sqlite3
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vr_kernel import Change, RecordKind, StoredRecord

from vr_plugin_knowledge.embedded_store.schema import DamagedRowError
from vr_plugin_knowledge.embedded_store.writer import ItemWriter, checksum
from vr_plugin_knowledge.matching.shapes import UNKNOWN, shape_of

STORED = "i.key, i.fields, i.provenance, i.checksum"
"""The columns of `item i` that `load_row` reads."""


def apply_changes(
    connection: sqlite3.Connection, changes: Sequence[Change], kinds: Mapping[str, RecordKind]
) -> int:
    """Write the changes after the cursor, move the cursor, and return it."""
    cursor = read_cursor(connection)
    newest: defaultdict[tuple[str, str], dict[str, Change]] = defaultdict(dict)
    for change in changes:
        if change.seq > cursor:
            newest[change.workspace, change.kind][change.key] = change
            cursor = change.seq
    writer = ItemWriter(connection, kinds)
    for (workspace, kind), by_key in newest.items():
        writer.put(workspace, kind, by_key)
    writer.write()
    connection.execute("UPDATE state SET value = ? WHERE name = 'cursor'", (cursor,))
    return cursor


def read_cursor(connection: sqlite3.Connection) -> int:
    """The journal's sequence number up to which changes were applied."""
    row = connection.execute("SELECT value FROM state WHERE name = 'cursor'").fetchone()
    return int(row[0])


def reindex_kind(
    connection: sqlite3.Connection, kind: RecordKind, *, only_unknown: bool, limit: int
) -> list[int]:
    """Reindex up to `limit` items of a kind in its present shape; return their `seq`.

    Args:
        connection: of a transaction that is open for writing.
        kind: as this process declares it.
        only_unknown: leave items alone that were indexed by another version of the kind.
        limit: most items.
    """
    wrong, shape = ("=", UNKNOWN) if only_unknown else ("<>", shape_of(kind))
    rows = connection.execute(
        f"SELECT i.id, i.seq, i.digest, {STORED} FROM scope s JOIN item i ON i.scope = s.id"  # noqa: S608 - constant text
        f" WHERE s.kind = ? AND i.shape {wrong} ? LIMIT ?",
        (kind.name, shape, limit),
    ).fetchall()
    writer = ItemWriter(connection, {kind.name: kind})
    for item, _, digest, *stored in rows:
        writer.reindex(item, kind.name, load_row(stored)[1], digest)
    writer.write()
    return [seq for _, seq, *_ in rows]


def read_page(
    connection: sqlite3.Connection, after: int, limit: int
) -> Iterator[tuple[int, str, StoredRecord]]:
    """Records after an item, each with its item and its workspace."""
    rows = connection.execute(
        f"SELECT i.id, s.workspace, s.kind, {STORED} FROM item i JOIN scope s ON s.id = i.scope"  # noqa: S608 - constant text
        " WHERE i.id > ? ORDER BY i.id LIMIT ?",
        (after, limit),
    )
    for item, workspace, kind, *stored in rows:
        yield item, workspace, StoredRecord(kind, *load_row(stored))


def is_outdated(connection: sqlite3.Connection, kind: RecordKind) -> bool:
    """True when items of a kind were indexed by another version of it."""
    row = connection.execute(
        "SELECT 1 FROM scope s JOIN item i ON i.scope = s.id"
        " WHERE s.kind = ? AND i.shape <> ? LIMIT 1",
        (kind.name, shape_of(kind)),
    ).fetchone()
    return row is not None


def unknown_kinds(connection: sqlite3.Connection) -> list[str]:
    """Kinds with items that were recorded by a process without the plugin of their kind."""
    rows = connection.execute(
        "SELECT DISTINCT kind FROM scope s"
        " WHERE EXISTS (SELECT 1 FROM item i WHERE i.scope = s.id AND i.shape = ?)",
        (UNKNOWN,),
    )
    return [kind for (kind,) in rows]


def load_row(stored: Sequence[Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Key, fields and provenance of a row, read as the columns `STORED`.

    Raises:
        DamagedRowError: when they differ from what was written.
    """
    return stored[0], load_fields(stored), json.loads(stored[2])


def load_fields(stored: Sequence[Any]) -> dict[str, Any]:
    """Only the fields of such a row.

    Raises:
        DamagedRowError: when it differs from what was written.
    """
    key, text, origin, kept = stored
    if checksum(key, text, origin) != kept:
        raise DamagedRowError("a record is not what was written")
    fields: dict[str, Any] = json.loads(text)
    return fields
