"""Damage of SQLite files, as typed errors that quote nothing of them, and its way aside."""

from __future__ import annotations

import time
from contextlib import suppress
from pathlib import Path

from vr_kernel.database_faults import DAMAGED, identity, shown_key, wording
from vr_kernel.errors import Code, VrError


def put_aside(path: Path) -> Path | None:
    """Rename a file, with its log, and return its new name; None when there is none.

    Nobody of this process may have it open.
    """
    kept = path.with_name(f"{path.name}.damaged-{time.time_ns()}")
    # The log goes first: left behind, it would be played into the new file. SQLite removes it
    # itself when a reader that still had it closes.
    with suppress(FileNotFoundError):
        path.with_name(f"{path.name}-wal").replace(kept.with_name(f"{kept.name}-wal"))
    path.with_name(f"{path.name}-shm").unlink(missing_ok=True)
    try:
        path.replace(kept)
    except FileNotFoundError:
        return None
    return kept


def leave_emptied(path: Path, opened: tuple[int, int, bool] | None) -> None:
    """Rename a file that is open and was emptied: its log is no part of what comes in its place."""
    if opened is not None and opened[2] and identity(path) == (*opened[:2], False):
        put_aside(path)


def damaged(path: Path, error: BaseException) -> VrError:
    """The typed error of a damaged file; without its cause, which may quote what stands in it."""
    return VrError(
        f"{path.name} is damaged, or another program's file ({wording(error)}).",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint=f"Restore {path} from a backup. Or, when you can do without it, stop all servers and"
        f" move {path} away to start a new one.",
    )


def set_aside(path: Path, kept: Path) -> VrError:
    """The typed error of a damaged file in whose place a new one was begun."""
    return VrError(
        f"{path.name} was damaged, or another program's file, so a new one was begun.",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint=f"What it held is in {kept}. Check the disk; `vr clean --damaged` removes such files.",
    )


def replaced(path: Path) -> VrError:
    """The typed error of a file that somebody took away, or put another in the place of."""
    return VrError(
        f"{path.name} was removed or replaced while it was open; what is there now is used.",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint=f"Unless you wanted that, stop all servers and restore {path} from a backup.",
    )


def emptied(path: Path) -> VrError:
    """The typed error of a file that has lost its content."""
    return VrError(
        f"{path.name} was empty, so it is begun anew.",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint=f"If it held something, stop all servers and restore {path} from a backup.",
    )


def row_damaged(path: Path, table: str, key: object) -> VrError:
    """The typed error of a row that is left out."""
    return VrError(
        f"A row of {path.name} is damaged and cannot be used: {table} {shown_key(key)}.",
        Code.UNAVAILABLE,
        category=DAMAGED,
        hint=f"All others are there. To have it again, restore {path} from a backup.",
    )
