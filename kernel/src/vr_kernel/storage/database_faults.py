"""Kinds of faults of SQLite files: damage, locks, a full disk."""

from __future__ import annotations

import errno
import os
import re
import sqlite3
from pathlib import Path

from vr_kernel.errors import VrError

# The module sqlite3 cannot decode a message of SQLite that quotes damaged names.
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""All exceptions with which a file can fail."""
UNAVAILABLE = "STATE_UNAVAILABLE"
DAMAGED = "STATE_DAMAGED"
NEWER = "STATE_NEWER"
"""Categories: a file cannot be used now, is damaged, or was written by a newer version."""
FORMAT = 1
"""The newest format of files that this version understands."""
MARK = 0x01010101
"""`PRAGMA user_version` is format times this: a damaged byte gives no other format's mark."""
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_SHORT_READ")
_FOREIGN = ("SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH")
"""Errors of our statements on a file of another program or version."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
CLEAN = "Free some space there; `vr clean` removes what this program can do without."
_QUOTING = ("SQLITE_ERROR", "SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_CONSTRAINT")
"""Errors whose message from SQLite may quote the file's content."""
_TABLE = re.compile(r"CREATE TABLE IF NOT EXISTS (\w+)")


class ForeignFileError(sqlite3.DatabaseError):
    """The file is a sound database, but of another program."""

    sqlite_errorname = "SQLITE_NOTADB"


class NewerFileError(sqlite3.DatabaseError):
    """The file was written by a newer version of this program."""

    sqlite_errorname = "VR_NEWER"


class NotBegunError(Exception):
    """A transaction could not begin, so no work was done; the cause says why."""


def cause(error: BaseException) -> BaseException | None:
    """The fault of the file behind an error, or the error itself."""
    return error.__cause__ if isinstance(error, NotBegunError) else error


def is_damage(error: BaseException | None) -> bool:
    """True when the file's content is broken, or another program's."""
    return _is_any_of(error, _DAMAGED)


def is_newer(error: BaseException | None) -> bool:
    """True when a newer version wrote the file."""
    return isinstance(error, NewerFileError)


def is_useless(error: BaseException | None, path: Path) -> bool:
    """True when a file that may be written is broken, or not one of ours."""
    if getattr(error, "sqlite_errorname", None) == "SQLITE_READONLY":
        # A newer version of SQLite may mark a file as not writable by this one. A log or index
        # that is no file, or another user's, says nothing of the file.
        beside = [path.with_name(path.name + end) for end in ("-wal", "-shm")]
        files = [path, *filter(os.path.lexists, beside)]
        return os.access(path.parent, os.W_OK) and all(
            each.is_file() and os.access(each, os.W_OK) for each in files
        )
    return _is_any_of(error, _DAMAGED + _FOREIGN)


def is_busy(error: BaseException | None) -> bool:
    """True when another connection holds a lock."""
    return _is_any_of(error, ("SQLITE_BUSY", "SQLITE_LOCKED", "SQLITE_PROTOCOL"))


def is_full(error: BaseException | None) -> bool:
    """True when the disk, a quota or the largest size of a file left no room."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return _is_any_of(error, ("SQLITE_FULL",))


def is_io_error(error: BaseException | None) -> bool:
    """True when the disk failed to do what SQLite asked."""
    return _is_any_of(error, ("SQLITE_IOERR",))


def is_passing(error: BaseException | None) -> bool:
    """True for a temporary fault: the file is in use, cannot be reached, or has no room."""
    names = ("SQLITE_BUSY", "SQLITE_FULL", "SQLITE_IOERR", "SQLITE_READONLY", "SQLITE_CANTOPEN")
    return isinstance(error, OSError) or _is_any_of(error, names)


def is_held(error: VrError) -> bool:
    """True for the error of a file that another process holds."""
    return is_busy(error.__cause__)


def is_of_state(error: VrError) -> bool:
    """True for the error of a file that cannot be used, whatever the reason."""
    return error.category in {UNAVAILABLE, DAMAGED, NEWER}


def wording(error: BaseException) -> str:
    """The message of a fault; it never quotes the file's content."""
    if isinstance(error, UnicodeDecodeError):
        return "SQLITE_CORRUPT"
    name = getattr(error, "sqlite_errorname", None) or ""
    if isinstance(error, sqlite3.Error) and (not name or name.startswith(_QUOTING)):
        return name or type(error).__name__
    return str(error)


def require_own(connection: sqlite3.Connection, schema: str) -> None:
    """Refuse a file of a newer version, or that has tables, but none of a schema.

    Raises:
        NewerFileError: when a newer version wrote it.
        ForeignFileError: when it is another program's.
    """
    newer, rest = divmod(connection.execute("PRAGMA user_version").fetchone()[0], MARK)
    if newer > FORMAT and not rest:
        raise NewerFileError
    rows = connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
    there = {name for (name,) in rows if not name.startswith("sqlite_")}
    if there and there.isdisjoint(_TABLE.findall(schema)):
        raise ForeignFileError


def _is_any_of(error: BaseException | None, names: tuple[str, ...]) -> bool:
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else ""
    return (getattr(error, "sqlite_errorname", None) or name).startswith(names)
