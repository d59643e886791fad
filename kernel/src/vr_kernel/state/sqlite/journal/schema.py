"""Tables of the journal."""

from __future__ import annotations

import sqlite3

# AUTOINCREMENT keeps sequence numbers rising even after the newest row is replaced.
RECORDS = """
CREATE TABLE IF NOT EXISTS record (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    fields TEXT,
    provenance TEXT NOT NULL,
    created_at TEXT NOT NULL,
    UNIQUE (workspace, kind, key)
);
"""
HISTORY = """
CREATE TABLE IF NOT EXISTS former (
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    key TEXT NOT NULL,
    created_at TEXT NOT NULL,
    fields TEXT NOT NULL,
    provenance TEXT NOT NULL,
    PRIMARY KEY (workspace, kind, key, created_at)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS folded (kind TEXT PRIMARY KEY) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS lineage (
    seq INTEGER PRIMARY KEY, journal TEXT NOT NULL, opening TEXT NOT NULL UNIQUE, home TEXT NOT NULL
);
"""
# `source_role` says which fields of a kind name its source and give its title. The row of `sourced`
# in `sqlite_sequence` has the number of the last record whose source is kept.
SOURCES = """
CREATE TABLE IF NOT EXISTS source (
    number INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    id TEXT NOT NULL,
    source TEXT NOT NULL,
    title TEXT NOT NULL,
    titled INTEGER NOT NULL,
    first_at TEXT NOT NULL,
    last_at TEXT NOT NULL,
    seq INTEGER NOT NULL,
    UNIQUE (workspace, id),
    UNIQUE (workspace, source)
);
CREATE INDEX IF NOT EXISTS source_by_seq ON source (workspace, seq);
CREATE TABLE IF NOT EXISTS source_role (
    number INTEGER PRIMARY KEY, kind TEXT NOT NULL UNIQUE, source TEXT NOT NULL, title TEXT
);
CREATE TABLE IF NOT EXISTS source_kind (
    source INTEGER, role INTEGER, records INTEGER NOT NULL, PRIMARY KEY (source, role)
) WITHOUT ROWID;
CREATE TABLE IF NOT EXISTS sourced (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    source INTEGER NOT NULL,
    role INTEGER NOT NULL,
    at TEXT NOT NULL
);
CREATE INDEX IF NOT EXISTS sourced_by_source ON sourced (source);
"""
# Fields with addresses of artifacts, of all kinds that ever had one: they are read without plugins.
PINNING = """
CREATE TABLE IF NOT EXISTS pinning (
    kind TEXT NOT NULL, field TEXT NOT NULL, PRIMARY KEY (kind, field)
) WITHOUT ROWID;
"""
# It has all that a selection looks at, so that records of other kinds and workspaces are not read.
BY_KIND = "CREATE INDEX IF NOT EXISTS record_by_kind ON record (kind, seq, workspace)"
Row = tuple[str, str, str, str | None, str, str]
"""Workspace, kind, key, fields, provenance, created_at."""
ADD = (
    "INSERT INTO record (workspace, kind, key, fields, provenance, created_at) VALUES (?,?,?,?,?,?)"
)
PUT = ADD.replace("INSERT", "INSERT OR REPLACE")


def is_indexed(connection: sqlite3.Connection) -> bool:
    """True when changes of some kinds can be read without reading those of others."""
    question = "SELECT 1 FROM sqlite_master WHERE type = 'index' AND name = 'record_by_kind'"
    return connection.execute(question).fetchone() is not None


def add_index(connection: sqlite3.Connection) -> None:
    """Add the index by kind, unless it is there."""
    connection.execute(BY_KIND)


def highest_seq(connection: sqlite3.Connection) -> int:
    """The highest sequence number given out."""
    last = "SELECT coalesce(max(seq), 0) FROM sqlite_sequence WHERE name = 'record'"
    return int(connection.execute(last).fetchone()[0])


def count_above(connection: sqlite3.Connection, seq: int) -> int:
    """Count the records and deletions with a number above this one."""
    counted = connection.execute("SELECT count(*) FROM record WHERE seq > ?", (seq,))
    return int(counted.fetchone()[0])


def move_sources(connection: sqlite3.Connection, by: int, after: int) -> None:
    """Give the rows of sources the new numbers of records: those above `after` rose by `by`."""
    for table, column in (("sourced", "seq"), ("source", "seq"), ("source", "titled")):
        change = f"UPDATE {table} SET {column} = {column} + ? WHERE {column} > ?"  # noqa: S608 - constant text
        connection.execute(change, (by, after))
    connection.execute(
        "UPDATE sqlite_sequence SET seq = seq + ? WHERE name = 'sourced' AND seq > ?", (by, after)
    )
