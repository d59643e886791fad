"""Typed errors of SQLite files that cannot be used; they never quote a file's content."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.storage.database_faults import (
    CLEAN,
    DAMAGED,
    NEWER,
    UNAVAILABLE,
    is_busy,
    is_damage,
    is_full,
    is_io_error,
    is_newer,
    wording,
)
from vr_kernel.storage.sound_rows import shown_key

if TYPE_CHECKING:
    from vr_kernel.log import Log


MAKING_S = 5.0
"""Seconds that a file may be empty while it is created."""


def explained(path: Path, error: BaseException) -> VrError:
    """The typed error of a fault of that file."""
    if is_busy(error):
        from vr_kernel.storage.lock_holders import held

        return held(path, error)
    if is_newer(error):
        return newer(path)
    return damaged(path, error) if is_damage(error) else unusable(path, error)


def told_by(log: Log) -> Callable[[VrError], None]:
    """Return a function that logs damage."""
    return lambda error: log.warning("damage was found", reason=error.message, hint=error.hint)


def tell_emptied(path: Path, tell: Callable[[VrError], None]) -> None:
    """Report that a file is empty, unless it is just being created."""
    try:
        found = path.stat()
    except OSError:
        return
    if found.st_size == 0 and time.time() - found.st_mtime > MAKING_S:
        tell(emptied(path))


def damaged(path: Path, error: BaseException) -> VrError:
    """The typed error of a damaged file; without its cause, which may quote the file's content."""
    aside = "move it away, with its -wal and -shm"
    if path.name == "journal.db":  # the store has its records
        without = f"or {aside}: `vr doctor` then names the command that records what the store has."
    else:
        without = f"or, when you can do without it, {aside}."
    return _damage(
        f"{path.name} is damaged, or another program's file ({wording(error)}).",
        # While a server runs whose -wal was removed, a sound file cannot be read either.
        f"Stop all servers and try again. If it stays so, restore {path} from a backup; {without}",
    )


def newer(path: Path) -> VrError:
    """The typed error of a file that a newer version of this program wrote."""
    return VrError(
        f"{path.name} was written by a newer version of this program.",
        Code.UNAVAILABLE,
        category=NEWER,
        hint=f"Install that version again; {path} is left as it is.",
    )


def set_aside(path: Path, kept: Path) -> VrError:
    """The typed error of a damaged file that was replaced by a new one."""
    return _damage(
        f"{path.name} was damaged, or another program's file, so a new one was created.",
        f"What it held is in {kept}. Check the disk; `vr clean --damaged` removes such files.",
    )


def replaced(path: Path) -> VrError:
    """The typed error of a file that was removed, or replaced by another one."""
    return _damage(
        f"{path.name} was removed or replaced while it was open; what is there now is used.",
        f"Unless you wanted that, stop all servers and restore {path} from a backup.",
    )


def log_removed(path: Path, told: str) -> VrError:
    """The typed error of a file whose log was removed; `told` says what became of its content."""
    return _damage(
        f"The -wal or -shm of {path.name} was removed while it was open; {told}.",
        f"Remove or move them only with {path} itself, while no server runs.",
    )


def emptied(path: Path) -> VrError:
    """The typed error of a file that has lost its content."""
    return _damage(
        f"{path.name} was empty, so it is created again.",
        f"If it held something, stop all servers and restore {path} from a backup.",
    )


def row_damaged(path: Path, table: str, key: object) -> VrError:
    """The typed error of a row that is left out."""
    return _damage(
        f"A row of {path.name} is damaged and cannot be used: {table} {shown_key(key)}.",
        f"All others are there. To have it again, restore {path} from a backup.",
    )


def unusable(path: Path, error: BaseException) -> VrError:
    """The typed error of a file that cannot be opened, read or written, and is not damaged."""
    said = wording(error)
    if is_full(error):
        hint = f"There is no room in {path.parent}. {CLEAN}"
    elif isinstance(error, FileExistsError | NotADirectoryError):
        place = next((it for it in path.parents if os.path.lexists(it)), path.parent)
        said = f"{place} is in the place of a folder"
        hint = f"Move {place} away, or set another folder: VR_STATE_DIR, VR_CACHE_DIR."
    elif is_io_error(error):  # also what SQLite reports for a quota
        hint = f"Check that the disk of {path.parent} is well and has free space. {CLEAN}"
    else:
        hint = f"Check that {path.parent} exists, is writable and has free space."
    told = VrError(
        f"{path.name} cannot be used: {said}.",
        Code.UNAVAILABLE,
        category=UNAVAILABLE,
        hint=hint,
        retryable=is_full(error) or is_io_error(error),
    )
    told.__cause__ = error
    return told


def unwritten(what: str, folder: Path, error: BaseException) -> VrError:
    """The typed error of a file, or of its content, that cannot be written to a folder."""
    full = is_full(error)
    told = VrError(
        f"{what} could not be saved: {getattr(error, 'strerror', None) or wording(error)}.",
        Code.UNAVAILABLE,
        category=UNAVAILABLE,
        hint=f"There is no room in {folder}. {CLEAN}"
        if full
        else f"Check that {folder} is a folder that may be written.",
        retryable=full,
    )
    told.__cause__ = error
    return told


def _damage(what: str, hint: str) -> VrError:
    return VrError(what, Code.UNAVAILABLE, category=DAMAGED, hint=hint)
