"""Files below a folder that match a pattern: found without leaving it, and within bounds."""

from __future__ import annotations

import os
import re
import time
from collections.abc import Generator, Sequence
from fnmatch import translate
from itertools import islice
from pathlib import Path

from vr_kernel.errors import Code, VrError

PATTERN_LIMIT = 300
"""Longest pattern in characters."""
DEPTH_LIMIT = 30
"""Most folders below each other that are entered."""
ENTRIES_LIMIT = 100_000
"""Most files and folders that are looked at."""
SECONDS_LIMIT = 5.0
"""Longest search."""
ANY_FOLDERS = "**"
_LISTS_OPEN_FOLDERS = os.scandir in os.supports_fd


def parse_pattern(pattern: str) -> list[str]:
    """The parts of a pattern, one for each level of folders.

    Raises:
        VrError: INVALID_INPUT, category PATTERN_INVALID: it is empty, too long, or would lead
            out of the folder.
    """
    parts = [part for part in re.split(r"[\\/]" if os.name == "nt" else "/", pattern) if part]
    if not parts or len(pattern) > PATTERN_LIMIT or "\0" in pattern:
        raise _invalid("It is empty, too long or holds a NUL character.")
    rooted = pattern.startswith(("/", "\\", "~")) or os.path.splitdrive(pattern)[0]
    if rooted or ".." in re.split(r"[\\/]", pattern):
        raise _invalid("It leads out of the folder.")
    try:
        os.fsencode(pattern)
    except UnicodeEncodeError:
        raise _invalid("It holds characters no file has.") from None
    return [part for part in parts if part != "."] or [ANY_FOLDERS]


Matches = Generator[tuple[Path, bool], None, None]


class Search:
    """One search below a folder; `complete` tells afterwards whether all of it was looked at."""

    def __init__(self, parts: Sequence[str], entries: int = ENTRIES_LIMIT) -> None:
        """`parts` are those of a pattern; a last `**` stands for every file below."""
        ending = ["*"] if parts[-1] == ANY_FOLDERS else []
        self._parts = [
            (part, re.compile(translate(os.path.normcase(part)))) for part in [*parts, *ending]
        ]
        self._left = entries
        self._until = time.monotonic() + SECONDS_LIMIT
        self.complete = True

    def below(self, folder: Path, handle: int) -> Matches:
        """Yield matching files, folder by folder in order of name, each with whether it is a link.

        Args:
            folder: where the files are said to be.
            handle: the open folder; ignored where open folders cannot be listed.
        """
        return self._enter(folder, handle, self._closure({0}), DEPTH_LIMIT)

    def _enter(self, folder: Path, handle: int, states: set[int], depth: int) -> Matches:
        for entry in self._entries(folder, handle):
            if time.monotonic() > self._until:
                self.complete = False
                return
            reached = self._closure(self._step(entry.name, states))
            path = folder / entry.name
            if entry.is_symlink():
                if len(self._parts) in reached:
                    yield path, True
            elif entry.is_dir(follow_symlinks=False):
                yield from self._descend(path, entry.name, handle, reached, depth)
            elif len(self._parts) in reached and entry.is_file(follow_symlinks=False):
                yield path, False

    def _descend(self, path: Path, name: str, handle: int, states: set[int], depth: int) -> Matches:
        wanted = {state for state in states if state < len(self._parts)}
        if not wanted:
            return
        if depth == 0:
            self.complete = False
            return
        if not _LISTS_OPEN_FOLDERS:
            yield from self._enter(path, handle, wanted, depth - 1)
            return
        try:
            inner = os.open(name, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW, dir_fd=handle)
        except OSError:  # not readable, or no folder any more
            self.complete = False
            return
        try:
            yield from self._enter(path, inner, wanted, depth - 1)
        finally:
            os.close(inner)

    def _entries(self, folder: Path, handle: int) -> list[os.DirEntry[str]]:
        try:
            with os.scandir(handle if _LISTS_OPEN_FOLDERS else folder) as found:
                entries = list(islice(found, self._left))
                more = next(found, None) is not None
        except OSError:
            entries, more = [], True
        self._left -= len(entries)
        self.complete = self.complete and not more
        return sorted(entries, key=lambda entry: entry.name)

    def _step(self, name: str, states: set[int]) -> set[int]:
        """The states after one more name; a hidden name needs a part with a leading dot."""
        reached = set()
        for state in states:
            if state == len(self._parts):
                continue
            part, matcher = self._parts[state]
            if name.startswith(".") and not part.startswith("."):
                continue
            if part == ANY_FOLDERS:
                reached.add(state)
            elif matcher.match(os.path.normcase(name)):
                reached.add(state + 1)
        return reached

    def _closure(self, states: set[int]) -> set[int]:
        """The states, and those that follow when `**` stands for no folder at all."""
        reached = set(states)
        for state in sorted(states):
            last = state
            while last < len(self._parts) and self._parts[last][0] == ANY_FOLDERS:
                last += 1
                reached.add(last)
        return reached


def _invalid(problem: str) -> VrError:
    return VrError(
        f"The pattern cannot be used. {problem}",
        Code.INVALID_INPUT,
        category="PATTERN_INVALID",
        hint="Write one such as *.mp4 or **/*.pdf; it counts from the folder.",
    )
