"""Faults of SQLite files: which is what, and the typed error that says so."""

from __future__ import annotations

import errno
import sqlite3
from pathlib import Path

from vr_kernel.errors import Code, VrError

# The module sqlite3 cannot decode a message of SQLite that quotes damaged names.
FAULTS = (sqlite3.Error, OSError, UnicodeDecodeError)
"""Everything that a file can fail with."""
_DAMAGED = ("SQLITE_CORRUPT", "SQLITE_NOTADB")
_FOREIGN = ("SQLITE_ERROR", "SQLITE_CONSTRAINT", "SQLITE_MISMATCH", "SQLITE_READONLY")
"""How a file of another program, or of another version, answers to our statements."""
_FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
_CLEAN = (
    "Free some space there, then try again; `vr clean` removes what this program can do without."
)


def is_damage(error: BaseException | None) -> bool:
    """True when the file's content is broken."""
    return _is_any_of(error, _DAMAGED)


def is_useless(error: BaseException | None) -> bool:
    """True when the file is broken, or not one of ours."""
    return _is_any_of(error, _DAMAGED + _FOREIGN)


def is_busy(error: BaseException | None) -> bool:
    """True when another connection holds a lock."""
    return _is_any_of(error, ("SQLITE_BUSY",))


def is_full(error: BaseException | None) -> bool:
    """True when the disk, a quota or the largest size of a file left no room."""
    if isinstance(error, OSError):
        return error.errno in _FULL
    return _is_any_of(error, ("SQLITE_FULL",))


def no_room(folder: Path, error: OSError) -> VrError:
    """The typed error of a folder that takes no file, before anything is paid."""
    full = is_full(error)
    said = "has no room for what would be paid for" if full else "cannot be written"
    return VrError(
        f"{folder} {said}: {error.strerror}.",
        Code.UNAVAILABLE,
        category="STATE_UNAVAILABLE",
        hint=_CLEAN if full else f"Check that {folder} is a folder that may be written.",
        retryable=full,
    )


def explained(path: Path, error: BaseException) -> VrError:
    """The typed error of a fault of that file; the fault is its cause."""
    if is_damage(error):
        hint = f"The file is damaged. Move {path} away to start a new one."
    elif is_full(error):
        hint = f"There is no room in {path.parent}. {_CLEAN}"
    else:
        hint = f"Check that {path.parent} exists, is writable and has free space."
    told = VrError(
        f"{path.name} cannot be used: {error}.",
        Code.UNAVAILABLE,
        category="STATE_UNAVAILABLE",
        hint=hint,
        retryable=is_full(error),
    )
    told.__cause__ = error
    return told


def _is_any_of(error: BaseException | None, names: tuple[str, ...]) -> bool:
    name = "SQLITE_CORRUPT" if isinstance(error, UnicodeDecodeError) else ""
    return (getattr(error, "sqlite_errorname", None) or name).startswith(names)
