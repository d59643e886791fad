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
# It has all that a selection looks at, so that records of other kinds and workspaces are not read.
BY_KIND = "CREATE INDEX IF NOT EXISTS record_by_kind ON record (kind, seq, workspace)"
Row = tuple[str, str, str, str | None, str, str]
"""Workspace, kind, key, fields, provenance, created_at."""
PUT = (
    "INSERT OR REPLACE INTO record"
    " (workspace, kind, key, fields, provenance, created_at) VALUES (?,?,?,?,?,?)"
)


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
