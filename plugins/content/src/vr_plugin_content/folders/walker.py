"""Finds the files of a folder that are read, in order, without ever leaving it."""

from __future__ import annotations

import os
import stat
import time
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path

from vr_kernel import VrError
from vr_kernel.files import Policy

from vr_plugin_content.folders.file_rules import DEPTH_LIMIT, most_bytes, reason_by_name
from vr_plugin_content.folders.ignore_rules import FILE_BYTES, IGNORE_FILES, IgnoreRules
from vr_plugin_content.folders.listing import FileStamp, FolderStamp, Listing, Reason
from vr_plugin_content.folders.opened_folder import OpenedFolder, opened_folder
from vr_plugin_content.settings import ContentSettings

ENTRIES_LIMIT = 500_000
"""Most files and folders that are looked at."""
SECONDS_LIMIT = 30.0
"""Longest search."""


def list_files(policy: Policy, folder: str | Path, settings: ContentSettings) -> Listing:
    """List the files below an allowed folder that are read; blocks.

    Ignore files count as Git reads them. No link to a folder is followed, and a link to a file
    only where the policy allows what it leads to.

    Raises:
        VrError: NOT_ALLOWED, also for a link; INVALID_INPUT or NOT_FOUND.
    """
    with opened_folder(policy, folder) as (real, opened):
        walk = _Walk(policy, real, settings)
        walk.enter(opened, "", IgnoreRules(), DEPTH_LIMIT)
        return walk.listing


def stamp_behind(policy: Policy, folder: Path, path: str) -> FileStamp | None:
    """Return the state of the file that a link in a folder leads to; None if it is not read."""
    try:
        found = policy.resolve_file(folder / path).lstat()
    except (VrError, OSError):
        return None
    return stamp_of(path, found)


def stamp_of(path: str, status: os.stat_result) -> FileStamp:
    """Return the state of a file."""
    return FileStamp(path, status.st_size, status.st_mtime_ns, status.st_ino)


def folder_stamp(path: str, status: os.stat_result) -> FolderStamp:
    """Return the state of a folder."""
    return FolderStamp(path, status.st_mtime_ns, status.st_ctime_ns, status.st_ino)


class _Walk:
    """One walk through a folder, and what it found."""

    def __init__(self, policy: Policy, real: Path, settings: ContentSettings) -> None:
        self.listing = Listing(time.time_ns())
        self._policy, self._real, self._settings = policy, real, settings
        self._left = ENTRIES_LIMIT
        self._until = time.monotonic() + SECONDS_LIMIT

    def enter(self, folder: OpenedFolder, path: str, rules: IgnoreRules, depth: int) -> None:
        """List a folder, its stamp first: what changes meanwhile is noticed the next time."""
        self.listing.folders.append(folder_stamp(path, folder.status("")))
        names = self._names(folder)
        rules = rules.below(path, self._ignore_texts(folder, path, names))
        prefix = f"{path}/" if path else ""
        for name, is_folder in names:
            if not self._goes_on():
                return
            inner = prefix + name
            reason = rules.reason(inner, is_folder=is_folder)
            if reason is not None:
                self.listing.skip(reason)
            elif is_folder:
                self._descend(folder, name, inner, rules, depth)
            else:
                self._file(folder, name, inner)

    def _goes_on(self) -> bool:
        if len(self.listing.files) >= self._settings.max_files:
            self.listing.complete = False
        elif time.monotonic() > self._until:
            self.listing.complete = self.listing.in_time = False
        else:
            return True
        return False

    def _names(self, folder: OpenedFolder) -> list[tuple[str, bool]]:
        """Return names with whether each is a folder, in the order of the paths below them."""
        try:
            with folder.entries() as found:
                names = [
                    (it.name, it.is_dir(follow_symlinks=False)) for it in islice(found, self._left)
                ]
                more = next(found, None) is not None
        except OSError:
            self.listing.skip(Reason.UNREADABLE)
            return []
        self._left -= len(names)
        self.listing.complete = self.listing.complete and not more
        return sorted(names, key=lambda it: f"{it[0]}/" if it[1] else it[0])

    def _descend(
        self, folder: OpenedFolder, name: str, path: str, rules: IgnoreRules, depth: int
    ) -> None:
        if reason_by_name(path) is Reason.NAME:
            self.listing.skip(Reason.NAME)
            return
        if depth == 0:
            self.listing.skip(Reason.TOO_DEEP)
            self.listing.complete = False
            return
        try:
            inner = folder.enter(name)
        except OSError:  # not readable, or no folder any more
            self.listing.skip(Reason.UNREADABLE)
            return
        try:
            self.enter(inner, path, rules, depth - 1)
        finally:
            inner.close()

    def _file(self, folder: OpenedFolder, name: str, path: str) -> None:
        reason = reason_by_name(path)
        try:
            status = folder.status(name)
        except (OSError, ValueError):  # gone meanwhile
            reason = reason or Reason.UNREADABLE
        if reason is not None:
            self.listing.skip(reason)
        elif stat.S_ISLNK(status.st_mode):
            self._link(path)
        elif not stat.S_ISREG(status.st_mode):
            self.listing.skip(Reason.SPECIAL)
        else:
            self._add(stamp_of(path, status), self.listing.watched)

    def _link(self, path: str) -> None:
        found = self.listing.links[path] = stamp_behind(self._policy, self._real, path)
        if found is None:
            self.listing.skip(Reason.LINK)
        else:
            self._add(found)

    def _add(self, found: FileStamp, watched: list[FileStamp] | None = None) -> None:
        if found.size <= most_bytes(found.path, self._settings):
            self.listing.files.append(found)
            return
        self.listing.skip(Reason.TOO_LARGE)
        if watched is not None:
            watched.append(found)

    def _ignore_texts(
        self, folder: OpenedFolder, path: str, names: list[tuple[str, bool]]
    ) -> Iterator[str]:
        """Yield the ignore files of a folder, each of which is watched for changes."""
        there = {name for name, is_folder in names if not is_folder}
        for name in IGNORE_FILES:
            if name not in there:
                continue
            with suppress(OSError), os.fdopen(folder.open(name), "rb") as file:
                status = os.fstat(file.fileno())
                self.listing.watched.append(stamp_of(f"{path}/{name}" if path else name, status))
                if stat.S_ISREG(status.st_mode) and status.st_size <= FILE_BYTES:
                    yield file.read(FILE_BYTES).decode("utf-8", "replace")
