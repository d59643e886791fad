"""Pins read from the journal's file without opening a state: nothing is written."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from typing import TypeVar

from vr_kernel.config.paths import Paths
from vr_kernel.errors import Code, VrError
from vr_kernel.health import Diagnosis, Level
from vr_kernel.state.journal import INCOMPLETE
from vr_kernel.state.pins import Pin
from vr_kernel.state.sqlite.journal.examination import examine_journal
from vr_kernel.state.sqlite.journal.pins import collect_pins
from vr_kernel.state.sqlite.journal.schema import RECORDS
from vr_kernel.storage.database_errors import explained
from vr_kernel.storage.database_faults import FAULTS, require_own
from vr_kernel.storage.database_health import reading

T = TypeVar("T")


def read_pins(paths: Paths, store: str) -> set[Pin]:
    """Read the artifacts that live records of an installation need.

    Args:
        paths: its folders.
        store: the configured one, which may have what the journal lacks.

    Raises:
        VrError: UNAVAILABLE when the journal cannot be read, or lacks records that it had: they
            may be restored.
    """
    found = examine_journal(paths, lambda: Diagnosis.ok(""), store)
    if found.level is Level.FAULT:
        raise VrError(found.what, Code.UNAVAILABLE, category=INCOMPLETE, hint=found.fix)
    if not paths.journal.exists() or not paths.journal.stat().st_size:
        return set()
    try:
        with reading(paths.journal) as connection:
            require_own(connection, RECORDS)
            return asyncio.run(collect_pins(_Reader(connection), {}))
    except FAULTS as error:
        raise explained(paths.journal, error) from error


class _Reader:
    """Reads at once; see `vr_kernel.state.sqlite.journal.pins.Read`."""

    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    async def __call__(self, work: Callable[[sqlite3.Connection], T], /) -> T:
        return work(self._connection)
