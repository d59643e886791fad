"""The ledger: one file for jobs, leases, paid steps, limits and positions of the journal."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from vr_kernel.errors import VrError
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.principal_marks import MARK

LEDGER_SCHEMA = f"""
CREATE TABLE IF NOT EXISTS lease (
    token INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL UNIQUE,
    expires_at REAL NOT NULL
);
CREATE TABLE IF NOT EXISTS step (
    scope TEXT NOT NULL,
    key TEXT NOT NULL,
    version TEXT NOT NULL,
    committed_at REAL NOT NULL,
    checksum BLOB NOT NULL,
    reply BLOB NOT NULL,
    PRIMARY KEY (scope, key, version)
);
CREATE TABLE IF NOT EXISTS job (
    id TEXT PRIMARY KEY NOT NULL,
    principal TEXT NOT NULL,
    tool TEXT NOT NULL,
    workspace TEXT NOT NULL,
    version TEXT NOT NULL,
    state TEXT NOT NULL DEFAULT 'running',
    cancel_asked INTEGER NOT NULL DEFAULT 0,
    runs INTEGER NOT NULL DEFAULT 0,
    done REAL NOT NULL DEFAULT 0,
    total REAL,
    message TEXT NOT NULL DEFAULT '',
    created_at REAL NOT NULL,
    updated_at REAL NOT NULL,
    arguments TEXT NOT NULL,
    result TEXT,
    error TEXT
);
CREATE TABLE IF NOT EXISTS journal (
    name TEXT PRIMARY KEY NOT NULL,
    opening TEXT NOT NULL,
    seq INTEGER NOT NULL
);
CREATE TABLE IF NOT EXISTS given_up (journal TEXT PRIMARY KEY NOT NULL, acceptance TEXT NOT NULL);
CREATE TABLE IF NOT EXISTS amount (
    id INTEGER PRIMARY KEY AUTOINCREMENT,
    name TEXT NOT NULL,
    state TEXT NOT NULL,
    amount REAL NOT NULL,
    token INTEGER
);
CREATE INDEX IF NOT EXISTS amount_of_name ON amount (name);
CREATE INDEX IF NOT EXISTS job_of_state ON job (state);
CREATE INDEX IF NOT EXISTS job_of_mark ON job ({MARK}, created_at);
"""


def open_ledger(
    path: Path,
    tell: Callable[[VrError], None] = lambda _error: None,
    patience: Patience | None = None,
) -> KeptDatabase:
    """The ledger's file, which is made at first use; its commits survive a power loss."""
    return KeptDatabase(path, LEDGER_SCHEMA, synchronous="FULL", tell=tell, patience=patience)
