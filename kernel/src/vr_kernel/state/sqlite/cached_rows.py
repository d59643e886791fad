"""Counts and removes rows of the files of caches, even on a full disk."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TypeVar

from vr_kernel.errors import Code, VrError
from vr_kernel.storage.database_errors import explained
from vr_kernel.storage.database_faults import (
    FAULTS,
    UNAVAILABLE,
    is_damage,
    is_full,
    is_io_error,
)
from vr_kernel.storage.read_only import read_unwritable

BUSY_S = 10.0
_NAMED = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,16}")
_OLD = {
    "results.db": "result WHERE cached_at < ?",
    "digests.db": "digest WHERE mtime_ns < ? * 1e9",
}
"""The rows of each file of a cache that are older than a time."""
T = TypeVar("T")


def measure_results(path: Path, before: float) -> tuple[int, int]:
    """Count the results that were cached before a time, and their bytes.

    Raises:
        VrError: UNAVAILABLE, when the file cannot be read.
    """
    query = "SELECT count(*), total(length(value)) FROM result WHERE cached_at < ?"
    found = _read(path, lambda it: it.execute(query, (before,)).fetchone())
    return (int(found[0]), int(found[1] or 0)) if found else (0, 0)


def named_artifacts(results: Path) -> set[str]:
    """The files that cached results name.

    Raises:
        VrError: UNAVAILABLE, when the file cannot be read.
    """

    def find(connection: sqlite3.Connection) -> set[str]:
        rows = connection.execute("SELECT value FROM result")
        return {name for (value,) in rows for name in _NAMED.findall(str(value))}

    return _read(results, find) or set()


def clear_cache(folder: Path, before: float) -> None:
    """Remove results and digests that were cached before a time.

    Raises:
        VrError: UNAVAILABLE, when that is not possible.
    """
    for name, old in _OLD.items():
        path = folder / name
        if not path.exists():
            continue
        with _using(path):
            try:
                # Row by row, not by file: a running server keeps its files open.
                with closing(_opened(path)) as connection:
                    connection.execute(f"DELETE FROM {old}", (before,))  # noqa: S608 - constant text
                    connection.execute("VACUUM")
                    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            except sqlite3.Error as error:
                if not (_lacks_room(error) and _drop(path, old, before)):
                    raise


def forget_results(path: Path, names: set[str]) -> None:
    """Remove the cached results that name one of these files.

    Raises:
        VrError: UNAVAILABLE, when that is not possible; retryable when there is no room for it.
    """
    if not names or not path.exists():
        return
    with _using(path), closing(_opened(path)) as connection:
        rows = connection.execute("SELECT key, value FROM result").fetchall()
        stale = [(key,) for key, value in rows if names & set(_NAMED.findall(str(value)))]
        connection.executemany("DELETE FROM result WHERE key = ?", stale)


def _read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T | None:
    """Read a file; None when there is none, or when it is damaged or foreign."""
    if not path.exists():
        return None
    with _using(path):
        try:
            with closing(_opened(path)) as connection:
                return work(connection)
        except FAULTS as error:
            if found := read_unwritable(path, [work], error):
                return found[0]
            if not _lacks_room(error):
                raise
        with closing(_opened(path, alone=True)) as connection:
            return work(connection)
    return None


def _drop(path: Path, old: str, before: float) -> bool:
    """Remove the whole file if nobody uses it and all its rows are old."""
    try:
        with closing(_opened(path, alone=True)) as connection:
            connection.execute("BEGIN EXCLUSIVE")
            table = old.split(maxsplit=1)[0]
            (count,) = connection.execute(f"SELECT count(*) FROM {table}").fetchone()  # noqa: S608 - constant text
            (gone,) = connection.execute(f"SELECT count(*) FROM {old}", (before,)).fetchone()  # noqa: S608 - constant text
            if count != gone:
                return False
            for suffix in ("-wal", "-shm", ""):
                path.with_name(f"{path.name}{suffix}").unlink(missing_ok=True)
    except FAULTS:
        return False
    return True


def _opened(path: Path, *, alone: bool = False) -> sqlite3.Connection:
    """Open a database; with `alone` exclusively, so that SQLite needs no `-shm` file next to it."""
    address = f"{path.resolve().as_uri()}?mode=rw"
    wait_s = 0 if alone else BUSY_S
    connection = sqlite3.connect(address, uri=True, timeout=wait_s, isolation_level=None)
    if alone:
        connection.execute("PRAGMA locking_mode=EXCLUSIVE")
    return connection


def _lacks_room(error: BaseException) -> bool:
    return is_full(error) or is_io_error(error)


@contextmanager
def _using(path: Path) -> Iterator[None]:
    """Skip a file that is damaged or foreign, since the program replaces it by itself.

    Raises:
        VrError: UNAVAILABLE, for any other fault.
    """
    try:
        yield
    except FAULTS as error:
        if is_damage(error) or getattr(error, "sqlite_errorname", "") == "SQLITE_ERROR":
            return
        if not _lacks_room(error):
            raise explained(path, error) from error
        raise VrError(
            f"{path.name} cannot be changed: there is no room in {path.parent}.",
            Code.UNAVAILABLE,
            category=UNAVAILABLE,
            hint="Stop the servers, which hold files that could go, then try again;"
            " or remove files of other programs there.",
            retryable=True,
        ) from error
