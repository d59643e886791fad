"""Writes into other files than the ledger that are made only while a lease is there."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import closing, suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from vr_kernel.state.leases import fenced_off
from vr_kernel.state.sqlite.liveness import owns
from vr_kernel.storage.kept_database import KeptDatabase

T = TypeVar("T")
Work = Callable[[sqlite3.Connection], T]


def fenced(work: Work[T], database: KeptDatabase, ledger: Path, fence: int) -> Work[T]:
    """Return work for a file that is done while the lease of a token is in the ledger.

    It has the lock of the file, so what a successor writes comes later and stays. What waited in
    memory for room is written later, when its call has ended and given its lease back.

    The work raises:
        VrError: CONFLICT, category LEASE_LOST.
    """
    return partial(_write_owned, work, database, ledger, fence)


def _write_owned(
    work: Work[T],
    database: KeptDatabase,
    ledger: Path,
    fence: int,
    connection: sqlite3.Connection,
) -> T:
    if not database.holding:
        where = f"{ledger.absolute().as_uri()}?mode=ro"
        # When nobody can say: what is written has the keys that a successor would give it.
        with suppress(sqlite3.Error), closing(sqlite3.connect(where, uri=True)) as leases:
            if not owns(leases, fence):
                raise fenced_off()
    return work(connection)
