"""Listings: the files of a folder or a repository that are read, and those that are left out."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import NamedTuple, Protocol

SECOND_NS = 1_000_000_000
COARSE_NS = 2 * SECOND_NS
"""Nanoseconds within which two changes may bear the same time where times are whole seconds: FAT
counts in steps of 2 s."""
FINE_NS = 20_000_000
"""The same for other times: the clock of Linux's files ticks every 4 ms, at most every 10 ms."""
AHEAD_NS = 86_400_000_000_000
"""A time so far ahead of the clock was set by hand; a nearer one may be of a clock that differs."""


class ReadBounds(Protocol):
    """Bounds of a reading, as the plugin's settings name them."""

    @property
    def max_files(self) -> int:
        """Most files that are read."""

    @property
    def max_file_mb(self) -> int:
        """Largest document."""

    @property
    def max_text_file_kb(self) -> int:
        """Largest text."""


class Reason(StrEnum):
    """Reasons for leaving something out, as limits say them."""

    IGNORED = "named by ignore files"
    USUAL = "of version control, installed libraries and builds"
    SECRET = "that keep passwords or keys"  # noqa: S105 - a sentence
    BINARY = "binary"
    PICTURE = "pictures"
    TOO_LARGE = "too large"
    LINK = "links"
    SPECIAL = "devices, pipes or sockets"
    NAME = "with names that cannot be shown, or lead out"
    UNREADABLE = "that could not be read"
    TOO_DEEP = "too deep"
    ENCRYPTED = "encrypted"


class FileStamp(NamedTuple):
    """The state of a file by which a change is noticed, and its path with `/` between names."""

    path: str
    size: int
    mtime_ns: int
    inode: int


class FolderStamp(NamedTuple):
    """The state of a folder by which a new, renamed or missing name in it is noticed."""

    path: str
    mtime_ns: int
    ctime_ns: int
    inode: int


@dataclass(slots=True)
class Listing:
    """The files below a folder, in order of their paths.

    Attributes:
        taken_ns: the time at which it was begun.
        files: those to be read.
        folders: those that were looked into; the folder itself is the first, with an empty path.
        watched: files that are not read now, but may be once they change.
        links: links, each with what a reading finds behind it; None for what may not be read.
        skipped: how many were left out, by reason.
        complete: whether nothing was left out by the bounds of number, depth and time.
        in_time: whether it ended before its time was over.
    """

    taken_ns: int
    files: list[FileStamp] = field(default_factory=list)
    folders: list[FolderStamp] = field(default_factory=list)
    watched: list[FileStamp] = field(default_factory=list)
    links: dict[str, FileStamp | None] = field(default_factory=dict)
    skipped: dict[Reason, int] = field(default_factory=dict)
    complete: bool = True
    in_time: bool = True

    def skip(self, reason: Reason, count: int = 1) -> None:
        """Count something that is left out."""
        self.skipped[reason] = self.skipped.get(reason, 0) + count

    def is_recent(self, time_ns: int) -> bool:
        """True for a change so close to the listing that a later one may bear the same time."""
        steps = FINE_NS if time_ns % SECOND_NS else COARSE_NS
        return -steps <= time_ns - self.taken_ns <= AHEAD_NS


def limits_of(skipped: Mapping[Reason, int], bounds: ReadBounds, *, complete: bool) -> list[str]:
    """Return what was left out, in sentences that say what to do."""
    told = [
        f"Left out are {_counted(skipped)}. The largest text file that is read has"
        f" {bounds.max_text_file_kb:,} KB: max_text_file_kb in [plugins.content]."
        if Reason.TOO_LARGE in skipped
        else f"Left out are {_counted(skipped)}."
    ]
    more = (
        f"There is more than is read, which is at most {bounds.max_files:,} files: name a folder"
        " in it, or raise max_files in [plugins.content]."
    )
    return [*(told if skipped else ()), *(() if complete else (more,))]


def _counted(skipped: Mapping[Reason, int]) -> str:
    parts: Sequence[str] = [f"{count:,} {reason}" for reason, count in sorted(skipped.items())]
    return ", ".join(parts)
