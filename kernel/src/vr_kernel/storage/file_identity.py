"""Identity of files: tells an open file from another one that came in its place."""

from __future__ import annotations

from pathlib import Path

FileIdentity = tuple[int, int, bool] | None
"""Tells a file from another one of its name: device, number, whether there is anything in it."""


def identity(path: Path) -> FileIdentity:
    """Tells a file from another one of its name, or from what was emptied; None for no file."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino, found.st_size > 0


def identities(path: Path) -> tuple[FileIdentity, FileIdentity, FileIdentity]:
    """Tells an open file, its log and its index from others; these two may be emptied any time."""
    log, index = identity(log_of(path)), identity(log_of(path, "shm"))
    return identity(path), log and (*log[:2], False), index and (*index[:2], False)


def log_of(path: Path, ending: str = "wal") -> Path:
    """The file of what SQLite has not brought into this one yet; with `shm` the index over it."""
    return path.with_name(f"{path.name}-{ending}")
