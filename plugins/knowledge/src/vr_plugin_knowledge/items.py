"""Writing records into the store: text, facets, and which vectors they outdate."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from vr_kernel import Change, RecordKind

from vr_plugin_knowledge.facets import facet_rows
from vr_plugin_knowledge.schema import SCOPE_BITS, DamagedRowError, scope_crc
from vr_plugin_knowledge.spelling import index_text

STORED = "i.key, i.fields, i.provenance, i.checksum"
"""The columns of `item i` that `load_row` reads."""
UNKNOWN = ""
"""The shape of an item whose kind no plugin of the writing process declared."""


@dataclass(frozen=True, slots=True)
class Entry:
    """How a record is found; not at all as long as its kind is unknown."""

    shape: str
    words: str
    digest: bytes | None
    facets: list[tuple[str, Any]]


class ItemWriter:
    """Writes changes through one connection, inside the caller's transaction.

    Args:
        connection: of a transaction that is open for writing.
        kinds: the record kinds of this process by name.
    """

    def __init__(self, connection: sqlite3.Connection, kinds: Mapping[str, RecordKind]) -> None:
        self._connection = connection
        self._kinds = kinds
        self._scopes: dict[tuple[str, str], int] = {}
        self._shapes = {name: shape_of(kind) for name, kind in kinds.items()}

    def apply(self, change: Change) -> None:
        """Insert, replace or delete one record."""
        scope = self._scope(change.workspace, change.kind)
        row = self._connection.execute(
            "SELECT id, digest FROM item WHERE scope = ? AND key = ?", (scope, change.key)
        ).fetchone()
        if change.fields is None:
            if row:
                self._delete(scope, row[0])
            return
        fields = {**change.fields}
        fields.setdefault("created_at", change.created_at)
        entry = self._entry(change.kind, fields)
        text, origin = _dump(fields), _dump(change.provenance)
        if row:
            item = row[0]
            self._connection.execute(
                "UPDATE item SET seq = ?, fields = ?, provenance = ?, checksum = ? WHERE id = ?",
                (change.seq, text, origin, checksum(change.key, text, origin), item),
            )
            self._replace(item, entry, row[1])
        else:
            item = self._number(scope)
            self._connection.execute(
                "INSERT INTO item VALUES (?,?,?,?,?,?,?,?,?)",
                (
                    *(item, scope, change.key, change.seq, entry.shape, entry.digest),
                    *(text, origin, checksum(change.key, text, origin)),
                ),
            )
            self._index(item, entry)

    def reindex(
        self, item: int, kind: str, fields: Mapping[str, Any], digest: bytes | None
    ) -> None:
        """Index an item anew by its kind as it is known now; `digest` is what it has."""
        self._replace(item, self._entry(kind, fields), digest)

    def _entry(self, kind: str, fields: Mapping[str, Any]) -> Entry:
        if kind not in self._kinds:
            return Entry(UNKNOWN, "", None, [])
        spec = self._kinds[kind]
        return Entry(
            self._shapes[kind],
            index_text(spec.search_text(fields)),
            text_digest(spec.vector_text(fields)),
            facet_rows(spec, fields),
        )

    def _replace(self, item: int, entry: Entry, digest: bytes | None) -> None:
        self._connection.execute(
            "UPDATE item SET shape = ?, digest = ? WHERE id = ?", (entry.shape, entry.digest, item)
        )
        if entry.digest != digest:
            drop_vectors(self._connection, item)
        self._unindex(item)
        self._index(item, entry)

    def _delete(self, scope: int, item: int) -> None:
        drop_vectors(self._connection, item)
        self._unindex(item)
        self._connection.execute("DELETE FROM item WHERE id = ?", (item,))
        self._connection.execute("UPDATE scope SET items = items - 1 WHERE id = ?", (scope,))

    def _index(self, item: int, entry: Entry) -> None:
        self._connection.execute(
            "INSERT INTO body (rowid, words) VALUES (?,?)", (item, entry.words)
        )
        self._connection.executemany(
            "INSERT INTO facet VALUES (?,?,?,?)",
            [(item >> SCOPE_BITS, field, value, item) for field, value in entry.facets],
        )

    def _unindex(self, item: int) -> None:
        self._connection.execute("DELETE FROM body WHERE rowid = ?", (item,))
        self._connection.execute("DELETE FROM facet WHERE item = ?", (item,))

    def _scope(self, workspace: str, kind: str) -> int:
        known = self._scopes.get((workspace, kind))
        if known is not None:
            return known
        self._connection.execute(
            "INSERT OR IGNORE INTO scope (workspace, kind, crc) VALUES (?,?,?)",
            (workspace, kind, scope_crc(workspace, kind)),
        )
        row = self._connection.execute(
            "SELECT id FROM scope WHERE workspace = ? AND kind = ?", (workspace, kind)
        ).fetchone()
        scope = self._scopes[workspace, kind] = int(row[0])
        return scope

    def _number(self, scope: int) -> int:
        row = self._connection.execute(
            "UPDATE scope SET last_item = last_item + 1, items = items + 1 WHERE id = ?"
            " RETURNING last_item",
            (scope,),
        ).fetchone()
        return (scope << SCOPE_BITS) + int(row[0])


def apply_changes(
    connection: sqlite3.Connection, changes: Sequence[Change], kinds: Mapping[str, RecordKind]
) -> int:
    """Write what lies behind the cursor, move it, and return where it stands then."""
    cursor = read_cursor(connection)
    writer = ItemWriter(connection, kinds)
    for change in changes:
        if change.seq > cursor:
            writer.apply(change)
            cursor = change.seq
    connection.execute("UPDATE state SET value = ? WHERE name = 'cursor'", (cursor,))
    return cursor


def read_cursor(connection: sqlite3.Connection) -> int:
    """The journal's sequence number up to which changes were applied."""
    row = connection.execute("SELECT value FROM state WHERE name = 'cursor'").fetchone()
    return int(row[0])


def reindex_kind(
    connection: sqlite3.Connection, kind: RecordKind, *, only_unknown: bool, limit: int
) -> list[int]:
    """Bring up to `limit` items of a kind into its present shape; returns their `seq`.

    Args:
        connection: of a transaction that is open for writing.
        kind: as this process declares it.
        only_unknown: leave items alone that were indexed by another version of the kind.
        limit: how many at most.
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
    return [seq for _, seq, *_ in rows]


def unknown_kinds(connection: sqlite3.Connection) -> list[str]:
    """Kinds with items that were recorded by a process without the plugin of their kind."""
    rows = connection.execute(
        "SELECT DISTINCT kind FROM scope s"
        " WHERE EXISTS (SELECT 1 FROM item i WHERE i.scope = s.id AND i.shape = ?)",
        (UNKNOWN,),
    )
    return [kind for (kind,) in rows]


def drop_vectors(connection: sqlite3.Connection, item: int) -> None:
    """Take an item's vectors away, in a way that every process's matrix learns of."""
    embedders = connection.execute(
        "DELETE FROM vector WHERE item = ? AND live = 1 RETURNING embedder", (item,)
    ).fetchall()
    connection.executemany(
        "INSERT INTO vector (item, embedder, live) VALUES (?,?,0)",
        [(item, embedder) for (embedder,) in embedders],
    )


def checksum(key: str, text: str, origin: str) -> int:
    """What tells whether a row still holds what was written: SQLite does not."""
    return zlib.crc32(f"{key}\n{text}\n{origin}".encode())


def load_row(stored: Sequence[Any]) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Key, fields and provenance of a row, read as the columns `STORED`.

    Raises:
        DamagedRowError: when they are not what was written.
    """
    key, text, origin, kept = stored
    if checksum(key, text, origin) != kept:
        raise DamagedRowError("a record is not what was written")
    return key, json.loads(text), json.loads(origin)


def shape_of(kind: RecordKind) -> str:
    """A name for how a kind is indexed; another set of fields or flags gives another."""
    flags = [
        (f.name, f.type, f.vectorised, f.searchable, f.filterable, f.range) for f in kind.all_fields
    ]
    return hashlib.sha256(_dump(flags).encode()).hexdigest()[:16]


def text_digest(text: str) -> bytes | None:
    """What tells one text to embed from another; None for nothing to embed."""
    return hashlib.sha256(text.encode()).digest()[:16] if text.strip() else None


def _dump(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, separators=(",", ":"))
