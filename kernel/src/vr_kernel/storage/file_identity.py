"""Identity of files: tells an open file from one that replaced it."""

from __future__ import annotations

from pathlib import Path

FileIdentity = tuple[int, int, bool] | None
"""Tells a file from another one of its name: device, inode, and whether it has content."""


def identity(path: Path) -> FileIdentity:
    """Tells a file from another one of its name, or from an emptied one; None for no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size > 0


def identities(path: Path) -> tuple[FileIdentity, FileIdentity, FileIdentity]:
    """Identify an open file, its log and its index; the last two may be emptied at any time."""
    log, index = identity(log_of(path)), identity(log_of(path, "shm"))
    return identity(path), log and (*log[:2], False), index and (*index[:2], False)


def log_of(path: Path, ending: str = "wal") -> Path:
    """The write-ahead log of a database file; with `shm` the index of that log."""
    return path.with_name(f"{path.name}-{ending}")
