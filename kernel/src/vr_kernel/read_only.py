"""Databases in a folder where nothing may be written: they can be read all the same."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

from vr_kernel.database_faults import is_busy, is_full, is_passing, read_text


def read_unwritable(
    path: Path, works: Sequence[Callable[[sqlite3.Connection], Any]], error: BaseException
) -> list[Any] | None:
    """What each work gives of a file that could not be opened, for `error`; None when that stays.

    SQLite wants to write beside a file even to read it. Where it cannot, nobody else can, so the
    file does not change meanwhile; what stands in a log of writes needs the log's index.
    """
    wanting = (is_passing(error) or is_full(error)) and not is_busy(error)
    if not wanting or not path.is_file():
        return None
    log = path.with_name(f"{path.name}-wal")
    try:
        how = "mode=ro" if log.is_file() and log.stat().st_size else "immutable=1"
        address = f"{path.absolute().as_uri()}?{how}"
        with closing(sqlite3.connect(address, uri=True, isolation_level=None)) as connection:
            connection.text_factory = read_text
            connection.execute("BEGIN")
            return [work(connection) for work in works]
    except (sqlite3.Error, OSError):
        return None
