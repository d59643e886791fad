"""Handling of unusable SQLite files, and of files that were replaced while they were open."""

from __future__ import annotations

import os
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing, suppress
from pathlib import Path

from vr_kernel.config.paths import private_file
from vr_kernel.errors import VrError
from vr_kernel.storage.database_errors import log_removed, replaced
from vr_kernel.storage.database_faults import is_damage
from vr_kernel.storage.file_identity import FileIdentity, identity, log_of


def put_aside(path: Path, why: str = "damaged") -> Path | None:
    """Rename a file, with its log, and return its new name; None when there is none.

    This process must not have it open. `why` becomes part of the name.
    """
    kept = _free_name(path, why)
    # The log goes first: if it stayed, it would be applied to the new file. SQLite removes it
    # itself when a reader that has it open closes.
    _put_log_aside(path, kept)
    try:
        path.replace(kept)
    except FileNotFoundError:
        return None
    return kept


def begin_anew(path: Path, begin: Callable[[], object], close: Callable[[], None]) -> Path | None:
    """Put a file aside as given up, and create a new one; returns the new name of the former one.

    Args:
        path: of the file; this process must not have it open.
        begin: creates the new one.
        close: closes what `begin` left open when it failed.

    Raises:
        VrError: as `begin` does; the former file is then back, or the error says where it is.
    """
    kept = put_aside(path, "given-up")
    try:
        begin()
    except VrError as error:
        close()
        try:
            if kept is not None:
                _put_back(path, kept)
        except OSError:
            where = f"is kept as {kept}"
        else:
            where = "is as it was"
        raise error.reworded(f"{error.message} The former one {where}.", error.hint) from error
    return kept


def _put_back(path: Path, kept: Path) -> None:
    for each in (path, log_of(path), path.with_name(f"{path.name}-shm")):
        each.unlink(missing_ok=True)
    with suppress(FileNotFoundError):
        log_of(kept).replace(log_of(path))
    kept.replace(path)


def leave(
    path: Path,
    opened_as: tuple[FileIdentity, FileIdentity, FileIdentity],
    connection: sqlite3.Connection,
    close: Callable[[], None],
) -> VrError:
    """Close a file that was emptied or replaced, or whose log was, so that it can be opened again.

    The log of a replaced file is separated from the new file; a lost log is merged into its file.

    Args:
        path: where it was.
        opened_as: the identities of the file that this process had open, its log and its index.
        connection: to the file.
        close: closes the connection.

    Returns:
        The error that reports it.
    """
    opened, opened_log, opened_index = opened_as
    if opened is not None and identity(path) == opened:
        return _rejoin(path, (opened_log, opened_index), connection, close)
    if opened is not None and opened[2] and identity(path) == (*opened[:2], False):
        put_aside(path)
    close()
    if opened_log is not None and path.exists():
        _part_from(path, opened_log)
    return replaced(path)


def _rejoin(
    path: Path,
    companions: tuple[FileIdentity, FileIdentity],
    connection: sqlite3.Connection,
    close: Callable[[], None],
) -> VrError:
    """Bring a lost log, which the connection still has, into its file, and close the connection.

    If other processes have begun a new log, that would mix both; then the data that this process
    sees is written to a separate file.
    """
    told = "nothing of it is lost"
    try:
        if _is_shared(path, *companions) or _is_busy(connection):
            told = f"what was recorded until then is in {_copied(path, connection)}"
    except (sqlite3.Error, OSError):  # no room for the copy, or not readable without the log
        told = "what was recorded last may be lost"
    finally:
        close()
    return log_removed(path, told)


def _is_shared(path: Path, log: FileIdentity, index: FileIdentity) -> bool:
    """True when another process has written a new log, or a new index of this one."""
    log_now, index_now = identity(log_of(path)), identity(log_of(path, "shm"))
    return any(
        now is not None and now[2] and (was is None or now[:2] != was[:2])
        for now, was in ((log_now, log), (index_now, index))
    )


def _is_busy(connection: sqlite3.Connection) -> bool:
    return bool(connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()[0])


def _copied(path: Path, connection: sqlite3.Connection) -> Path:
    """Copy all that a connection sees into a file of its own; `path` is not changed."""
    if hasattr(connection, "setconfig"):  # from Python 3.12 on
        connection.setconfig(getattr(sqlite3, "SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE"))  # noqa: B009 - unknown to 3.11
    kept = private_file(_free_name(path, "parted"))
    try:
        with closing(sqlite3.connect(kept)) as copy:
            connection.backup(copy)
    except sqlite3.Error:
        kept.unlink()
        raise
    return kept


def _part_from(path: Path, log: tuple[int, int, bool]) -> None:
    """Put the log of a former file aside, unless another process uses the new file already.

    SQLite applies a log to the file next to it. Under another name, a link, the file can be locked
    without its log: during this lock no process reads the file or writes a new log.
    """
    kept = _free_name(path)
    other = kept.with_name(f"{kept.name}-now")
    try:
        os.link(path, other)
        with closing(sqlite3.connect(other, isolation_level=None, timeout=0)) as connection:
            try:
                connection.execute("PRAGMA locking_mode=EXCLUSIVE")
                connection.execute("BEGIN EXCLUSIVE")
            except sqlite3.Error as error:
                if not is_damage(error):  # another process uses it
                    return
            if (identity(log_of(path)) or ())[:2] == log[:2]:
                _put_log_aside(path, kept)
    except OSError:
        return  # Cannot be sure: a file system without links, or the file is gone again.
    finally:
        other.unlink(missing_ok=True)


def _free_name(path: Path, why: str = "damaged") -> Path:
    return path.with_name(f"{path.name}.{why}-{time.time_ns()}")


def _put_log_aside(path: Path, kept: Path) -> None:
    with suppress(FileNotFoundError):
        log_of(path).replace(log_of(kept))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
