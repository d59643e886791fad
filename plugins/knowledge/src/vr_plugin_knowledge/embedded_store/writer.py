"""Writes records into the store: text, facets, and removal of outdated vectors."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import zlib
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from vr_kernel import Change, RecordKind

from vr_plugin_knowledge.embedded_store.rows import insert_rows, select_by
from vr_plugin_knowledge.embedded_store.schema import SCOPE_BITS, scope_crc
from vr_plugin_knowledge.embedded_store.vocabulary import add_terms, drop_terms
from vr_plugin_knowledge.matching.facets import facet_rows
from vr_plugin_knowledge.matching.shapes import UNKNOWN, shape_of
from vr_plugin_knowledge.matching.spelling import index_text

_ENCODER = json.JSONEncoder(ensure_ascii=False, separators=(",", ":"))
_NOWHERE = (None, None)


@dataclass(slots=True)
class Scope:
    """One kind in one workspace: its number, that of its last item, and its change in items."""

    number: int
    last_item: int
    more: int = 0


class ItemWriter:
    """Collects changes, and writes them table by table through one connection.

    The full-text index comes last: it has to flush its memory whenever a statement begins that
    SQLite may have to roll back by itself.

    Args:
        connection: of a transaction that is open for writing, from the first change to `write`.
        kinds: the record kinds of this process by name.
    """

    def __init__(self, connection: sqlite3.Connection, kinds: Mapping[str, RecordKind]) -> None:
        self._connection = connection
        self._kinds = kinds
        self._shapes = {name: shape_of(kind) for name, kind in kinds.items()}
        self._scopes: dict[tuple[str, str], Scope] = {}
        self._new: list[tuple[Any, ...]] = []
        self._changed: list[tuple[Any, ...]] = []
        self._reshaped: list[tuple[str, bytes | None, int]] = []
        self._deleted: list[tuple[int]] = []
        self._outdated: list[tuple[int]] = []
        self._unindexed: list[tuple[int]] = []
        self._facets: list[tuple[int, str, Any, int]] = []
        self._words: list[tuple[int, str]] = []

    def put(self, workspace: str, kind: str, changes: Mapping[str, Change]) -> None:
        """Insert, replace or delete records of one kind in one workspace, given by their keys."""
        scope = self._scope(workspace, kind)
        sql = "SELECT key, id, digest FROM item WHERE scope = ? AND key"
        rows = select_by(self._connection, sql, (scope.number,), list(changes))
        known = {key: (item, digest) for key, item, digest in rows}
        for key, change in changes.items():
            item, digest = known.get(key, _NOWHERE)
            if change.fields is not None:
                self._put(scope, change, change.fields, item, digest)
            elif item is not None:
                self._delete(scope, item)

    def reindex(
        self, item: int, kind: str, fields: Mapping[str, Any], digest: bytes | None
    ) -> None:
        """Reindex an item by the present version of its kind; `digest` is its stored digest."""
        shape, now = self._index(item, kind, fields)
        self._reshaped.append((shape, now, item))
        self._unindexed.append((item,))
        if now != digest:
            self._outdated.append((item,))

    def write(self) -> None:
        """Write all that was collected."""
        each = self._connection.executemany
        counts = [(scope.last_item, scope.more, scope.number) for scope in self._scopes.values()]
        each("UPDATE scope SET last_item = ?, items = items + ? WHERE id = ?", counts)
        self._drop_vectors()
        each("DELETE FROM item WHERE id = ?", self._deleted)
        each(
            "UPDATE item SET seq = ?, fields = ?, provenance = ?, checksum = ? WHERE id = ?",
            self._changed,
        )
        each("UPDATE item SET shape = ?, digest = ? WHERE id = ?", self._reshaped)
        columns = "seq, fields, provenance, checksum, id, scope, key, shape, digest"
        insert_rows(self._connection, f"item ({columns})", self._new)
        each("DELETE FROM facet WHERE item = ?", self._unindexed)
        insert_rows(self._connection, "facet", self._facets)
        forgotten = self._forgotten_texts()
        each("DELETE FROM body WHERE rowid = ?", self._unindexed)
        insert_rows(self._connection, "body (rowid, words)", self._words)
        if forgotten:
            drop_terms(self._connection, forgotten)
        add_terms(self._connection, [words for _, words in self._words])

    def _forgotten_texts(self) -> list[str]:
        items = [item for (item,) in self._deleted]
        rows = select_by(self._connection, "SELECT words FROM body WHERE rowid", (), items)
        return [words for (words,) in rows]

    def _put(
        self,
        scope: Scope,
        change: Change,
        fields: Mapping[str, Any],
        item: int | None,
        digest: bytes | None,
    ) -> None:
        fields = {**fields}
        fields.setdefault("created_at", change.created_at)
        text, origin = _dump(fields), _dump(change.provenance)
        content = (change.seq, text, origin, checksum(change.key, text, origin))
        if item is not None:
            self._changed.append((*content, item))
            self.reindex(item, change.kind, fields, digest)
            return
        scope.last_item += 1
        scope.more += 1
        item = (scope.number << SCOPE_BITS) + scope.last_item
        shape, digest = self._index(item, change.kind, fields)
        self._new.append((*content, item, scope.number, change.key, shape, digest))

    def _index(self, item: int, kind: str, fields: Mapping[str, Any]) -> tuple[str, bytes | None]:
        """Collect words and facets, none while its kind is unknown; returns shape and digest."""
        if kind not in self._kinds:
            self._words.append((item, ""))
            return UNKNOWN, None
        spec = self._kinds[kind]
        self._words.append((item, index_text(spec.search_text(fields))))
        scope = item >> SCOPE_BITS
        self._facets += [(scope, name, value, item) for name, value in facet_rows(spec, fields)]
        return self._shapes[kind], text_digest(spec.vector_text(fields))

    def _delete(self, scope: Scope, item: int) -> None:
        scope.more -= 1
        self._outdated.append((item,))
        self._unindexed.append((item,))
        self._deleted.append((item,))

    def _drop_vectors(self) -> None:
        """Delete vectors, leaving rows that tell the matrices of all processes."""
        for item in self._outdated:
            embedders = self._connection.execute(
                "DELETE FROM vector WHERE item = ? AND live = 1 RETURNING item, embedder, 0", item
            ).fetchall()
            insert_rows(self._connection, "vector (item, embedder, live)", embedders)

    def _scope(self, workspace: str, kind: str) -> Scope:
        known = self._scopes.get((workspace, kind))
        if known is not None:
            return known
        self._connection.execute(
            "INSERT OR IGNORE INTO scope (workspace, kind, crc) VALUES (?,?,?)",
            (workspace, kind, scope_crc(workspace, kind)),
        )
        row = self._connection.execute(
            "SELECT id, last_item FROM scope WHERE workspace = ? AND kind = ?", (workspace, kind)
        ).fetchone()
        scope = self._scopes[workspace, kind] = Scope(*row)
        return scope


def checksum(key: str, text: str, origin: str) -> int:
    """Checksum of a row, by which damage is noticed: SQLite itself has none."""
    return zlib.crc32(f"{key}\n{text}\n{origin}".encode())


def text_digest(text: str) -> bytes | None:
    """Digest of a text to embed; None for an empty text."""
    return hashlib.sha256(text.encode()).digest()[:16] if text.strip() else None


def _dump(value: Any) -> str:
    return _ENCODER.encode(value)
