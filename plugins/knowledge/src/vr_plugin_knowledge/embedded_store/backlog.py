"""Lists items that have no vector yet, and writes vectors."""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from vr_plugin_knowledge.embedded_store.items import STORED, load_fields
from vr_plugin_knowledge.embedded_store.rows import insert_rows, select_by

BATCH = 32
"""Texts embedded and committed together, until the speed of embedding is known."""
LARGEST_BATCH = 512
GOAL_S = 0.5


@dataclass(frozen=True, slots=True)
class Waiting:
    """An item whose text has no vector yet."""

    item: int
    seq: int
    digest: bytes
    text: str


@dataclass(frozen=True, slots=True)
class Missing:
    """The items after a position that have text to embed and no vector of an embedder."""

    embedder: str
    position: int
    size: int = BATCH

    def batch(
        self, connection: sqlite3.Connection
    ) -> tuple[int, list[tuple[int, int, bytes, str, dict[str, Any]]]]:
        """The newest position, and the first missing items with digest, kind and fields."""
        rows = connection.execute(
            f"SELECT i.id, i.seq, i.digest, {_KIND}, {STORED} FROM {_MISSING}"  # noqa: S608 - constant text
            " ORDER BY i.seq LIMIT ?",
            (self.embedder, self.position, self.size),
        )
        found = [(*row[:4], load_fields(row[4:])) for row in rows]
        return newest_position(connection), found

    def count(self, connection: sqlite3.Connection) -> int:
        """Count the missing items."""
        sql = f"SELECT count(*) FROM {_MISSING}"  # noqa: S608 - constant text
        return int(connection.execute(sql, (self.embedder, self.position)).fetchone()[0])


_KIND = "(SELECT kind FROM scope WHERE scope.id = i.scope)"
_MISSING = (
    "item i LEFT JOIN vector v"
    " ON v.item = i.id AND v.embedder = ? AND v.live = 1"
    " WHERE i.digest IS NOT NULL AND i.seq > ? AND v.seq IS NULL"
)


def next_size(size: int, count: int, seconds: float) -> int:
    """Choose the size of the next batch by the time of the last, to take about `GOAL_S`."""
    if count < size:
        return size
    return max(BATCH, min(LARGEST_BATCH, int(count * GOAL_S / max(seconds, 1e-3))))


def newest_position(connection: sqlite3.Connection) -> int:
    """The journal's sequence number of the newest item that has text to embed."""
    row = connection.execute("SELECT max(seq) FROM item WHERE digest IS NOT NULL").fetchone()
    return int(row[0] or 0)


def store_vectors(
    connection: sqlite3.Connection, embedder: str, made: Sequence[tuple[Waiting, bytes | None]]
) -> None:
    """Store vectors, and nothing for a text that has none (`unit_vectors`)."""
    # A text may have changed, or its record been deleted, while it was being embedded.
    items = [entry.item for entry, _ in made]
    digests = dict(select_by(connection, "SELECT id, digest FROM item WHERE id", (), items))
    current = [
        (entry.item, embedder, 1, value)
        for entry, value in made
        if value is not None and digests.get(entry.item) == entry.digest
    ]
    sql = "SELECT item, embedder FROM vector WHERE embedder = ? AND item"
    before = select_by(connection, sql, (embedder,), [row[0] for row in current])
    connection.executemany("DELETE FROM vector WHERE item = ? AND embedder = ?", before)
    insert_rows(connection, "vector (item, embedder, live, value)", current)
