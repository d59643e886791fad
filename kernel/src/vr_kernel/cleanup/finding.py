"""Things that can be removed, and the files of a folder that are among them."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

BEING_WRITTEN_S = 3600
"""A partly written file younger than this, in seconds, may belong to a running call."""


@dataclass(frozen=True, slots=True)
class Removable:
    """Things of one kind that can be removed: their count, bytes, and a note for the user.

    `remove` removes them, and raises `OSError` or `VrError` when it cannot. `unread` is the error
    that kept some from being found. `kept` counts files that stay since records need them.
    """

    kind: str
    count: int
    size: int
    note: str
    remove: Callable[[], None]
    unread: str = ""
    kept: int = 0


def files_in(folder: Path, before: float) -> Iterator[Path]:
    """The files of a folder that were last changed before a time; links are passed over."""
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        yield Path(entry.path)


def unlink(files: Iterable[Path]) -> None:
    """Remove files, if they are there."""
    for path in files:
        path.unlink(missing_ok=True)


def size_of(files: Iterable[Path]) -> int:
    """The bytes of files together."""
    return sum(path.stat().st_size for path in files if path.exists())
