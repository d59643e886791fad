"""The ledger: one file for jobs, leases, paid steps and positions of the journal."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Coroutine
from pathlib import Path
from typing import Any, TypeVar

from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.principal_marks import MARK

T = TypeVar("T")
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
CREATE INDEX IF NOT EXISTS job_of_state ON job (state);
CREATE INDEX IF NOT EXISTS job_of_mark ON job ({MARK}, created_at);
"""


def open_ledger(
    path: Path,
    tell: Callable[[VrError], None] = lambda _error: None,
    patience: Patience | None = None,
) -> KeptDatabase:
    """The ledger's file, which is made at first use; its commits survive a power loss.

    Args:
        path: of the file.
        tell: called once for each damage found in it.
        patience: with locks, shared with the other files of the program.
    """
    return KeptDatabase(path, LEDGER_SCHEMA, synchronous="FULL", tell=tell, patience=patience)


def job_scope(job_id: str) -> str:
    """The name of a job's lease, and the scope of its steps."""
    return f"job/{job_id}"


async def complete(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end even when cancelled meanwhile; the cancellation follows then."""
    task = asyncio.ensure_future(PluginCode.ended(work))
    cancellation = await settle(task)
    work.close()  # a closing loop cancels the task, maybe before the work has begun
    if cancellation is not None:
        raise cancellation
    return task.result()


async def settle(
    task: asyncio.Future[Any], *, pass_on: bool = False
) -> asyncio.CancelledError | None:
    """Wait until `task` is done, however often the caller is cancelled meanwhile.

    Returns the first of these cancellations, for the caller to raise; with `pass_on` each one also
    cancels the task.
    """
    first: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            first = first or error
            if pass_on:
                task.cancel()
    if first is not None and not task.cancelled():
        task.exception()  # marks an exception as retrieved: the cancellation is raised instead
    return first
