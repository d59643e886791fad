"""Databases in a folder where nothing may be written: they can still be read."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import TypeVar

from vr_kernel.storage.database_faults import (
    NewerFileError,
    is_busy,
    is_full,
    is_passing,
    require_own,
)
from vr_kernel.storage.sound_rows import read_text

T = TypeVar("T")
_PROBED_BYTES = 1 << 16
"""More bytes than SQLite writes next to a file that is read."""


def read_unwritable(
    path: Path,
    works: Sequence[Callable[[sqlite3.Connection], T]],
    error: BaseException,
    schema: str = "",
) -> list[T] | None:
    """Do work on a file that could not be opened because of `error`; None if it still cannot.

    SQLite writes next to a file even to read it. Where that is not possible, no other process can
    write either, so the file does not change meanwhile; reading a write-ahead log needs its index.
    With a schema, a file that cannot even be created counts as empty.

    Raises:
        NewerFileError: when a newer version wrote the file.
    """
    if is_busy(error) or not (is_passing(error) or is_full(error)):
        return None
    try:
        with closing(_opened(path, schema)) as connection:
            connection.text_factory = read_text
            if schema:
                require_own(connection, schema)
            connection.execute("BEGIN")
            return [work(connection) for work in works]
    except NewerFileError:
        raise
    except (sqlite3.Error, OSError):
        return None


def has_room(folder: Path) -> bool:
    """True unless there is no room for a small file; only writing one shows that for sure."""
    try:
        with tempfile.TemporaryFile(dir=folder, prefix=".vr-room-") as probe:
            probe.write(bytes(_PROBED_BYTES))
    except OSError as error:
        return not is_full(error)
    return True


def address_to_look(path: Path) -> str:
    """The address, for `sqlite3.connect`, of a file that is only read and never created."""
    if os.access(path.parent, os.W_OK) and has_room(path.parent):
        # Not mode=ro: such a connection leaves the files of the write-ahead log behind.
        return f"{path.resolve().as_uri()}?mode=rw"
    return _address(path)


def _opened(path: Path, schema: str) -> sqlite3.Connection:
    if schema and path.parent.is_dir() and not path.exists():
        connection = sqlite3.connect(":memory:", isolation_level=None)
        connection.executescript(schema)
        return connection
    return sqlite3.connect(_address(path), uri=True, isolation_level=None)


def _address(path: Path) -> str:
    log = path.with_name(f"{path.name}-wal")
    how = "mode=ro&readonly_shm=1" if log.is_file() and log.stat().st_size else "immutable=1"
    return f"{path.absolute().as_uri()}?{how}"
