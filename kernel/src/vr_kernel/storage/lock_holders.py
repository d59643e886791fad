"""Processes that hold a SQLite file, as far as the system tells."""

from __future__ import annotations

import os
from pathlib import Path

from vr_kernel.errors import Code, VrError

_LOCKS = Path("/proc/locks")
_LAST_WRITERS_BYTE = 122
"""Bytes of the file `-shm`: SQLite locks 120 to write, 121 for a checkpoint, 122 to recover."""


def held(path: Path, error: BaseException) -> VrError:
    """The typed error of a file that another process has held for too long."""
    told = VrError(
        f"Another process holds {path.name}.",
        Code.UNAVAILABLE,
        category="STATE_UNAVAILABLE",
        hint=_advice(path),
        retryable=True,
    )
    told.__cause__ = error
    return told


def _advice(path: Path) -> str:
    """A hint that names the process that holds a file, and what to do."""
    process = _holder(path)
    if process is None:
        return (
            "A program that was suspended, as by Ctrl-Z or with its container, keeps its files:"
            " resume or end it."
        )
    if _is_suspended(process):
        return f"Process {process} is suspended: resume it (kill -CONT {process}) or end it."
    return f"Process {process} is writing to it: wait until it is done, or end it."


def _holder(path: Path) -> int | None:
    """The process that keeps others from writing; None if unknown."""
    try:
        index = path.with_name(f"{path.name}-shm").stat().st_ino
        lines = _LOCKS.read_text("utf-8").splitlines()
    except (OSError, ValueError):
        return None
    for line in lines:
        # 7: POSIX  ADVISORY  WRITE 4711 fe:01:23456 120 120
        fields = line.split()
        if len(fields) != 8 or fields[3] != "WRITE" or not fields[4].isdigit():  # noqa: PLR2004
            continue
        process, inode, first = int(fields[4]), fields[5].rpartition(":")[2], fields[6]
        if inode == str(index) and int(first) <= _LAST_WRITERS_BYTE and process != os.getpid():
            return process or None
    return None


def _is_suspended(process: int) -> bool:
    try:
        state = Path(f"/proc/{process}/stat").read_text("utf-8").rpartition(")")[2].split()[0]
    except (OSError, ValueError, IndexError):
        return False
    return state in {"T", "t"}
