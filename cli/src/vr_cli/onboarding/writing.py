"""Writes several files, all or none: first each beside its place, then all into place."""

from __future__ import annotations

import errno
import os
import stat
import sys
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, VrError
from vr_kernel.config import FILE_MODE, FOLDER_MODE

from vr_cli.onboarding.changes import Change

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, and the copy of what it held before; None for a new file."""

    file: Path
    backup: Path | None


def write_all(changes: Sequence[Change], stamp: str) -> list[Written]:
    """Write every change; `stamp` ends the names of the copies of files that are replaced.

    Raises:
        VrError: UNAVAILABLE on a full disk, NOT_ALLOWED, or CONFLICT when another program
            wrote a file meanwhile. No file is changed then.
    """
    writing = _Writing()
    current = changes[0]
    try:
        for current in changes:
            writing.stage(current, stamp)
        for current in changes:
            writing.put_in_place(current)
        writing.complete = True
    except OSError as error:
        raise _unwritable(current.file, error) from error
    finally:
        if not writing.complete:
            writing.undo()
    return [Written(change.file, writing.backups.get(change.file)) for change in changes]


class _Writing:
    """What was done so far, so that it can be undone."""

    def __init__(self) -> None:
        self.complete = False
        self.backups: dict[Path, Path] = {}
        self._staged: dict[Path, Path] = {}
        self._in_place: list[Path] = []
        self._folders: list[Path] = []

    def stage(self, change: Change, stamp: str) -> None:
        """Write the new text beside the file, and a copy of the old one."""
        file = change.file
        self._make_folders(file.parent, FOLDER_MODE if change.private else 0o777)
        status = None if change.before is None else file.stat()
        new = file.with_name(f".{file.name}.{uuid.uuid4().hex[:8]}")
        _write(new, change.after, status, private=change.private)
        self._staged[file] = new
        if change.before is not None:
            backup = file.with_name(f"{file.name}.{stamp}.bak")
            _write(backup, change.before, status, private=change.private)
            self.backups[file] = backup

    def put_in_place(self, change: Change) -> None:
        """Let the new text take the place of the file, if that is still as it was read."""
        file = change.file
        try:
            now = file.read_bytes()
        except FileNotFoundError:
            now = None
        if now != (None if change.before is None else change.before.encode()):
            raise VrError(
                f"Another program wrote {file} meanwhile.",
                Code.CONFLICT,
                hint="Nothing was changed. Close that program and run it again.",
                retryable=True,
            )
        self._staged[file].replace(file)
        self._in_place.append(file)

    def undo(self) -> None:
        """Put everything back; that takes no room on the disk.

        Raises:
            VrError: NOT_ALLOWED, naming the copy of a file that could not be put back.
        """
        for file in self._in_place:
            self._put_back(file)
        for left in (*self._staged.values(), *self.backups.values()):
            left.unlink(missing_ok=True)
        for folder in reversed(self._folders):
            with suppress(OSError):
                folder.rmdir()

    def _put_back(self, file: Path) -> None:
        backup = self.backups.get(file)
        try:
            if backup:
                backup.replace(file)
            else:
                file.unlink()
        except OSError as error:
            raise VrError(
                f"{file} was changed and cannot be put back: {error.strerror}.",
                Code.NOT_ALLOWED,
                hint=f"What it held is in {backup}." if backup else "Remove it.",
            ) from error

    def _make_folders(self, folder: Path, mode: int) -> None:
        missing = [it for it in (folder, *folder.parents) if not it.exists()]
        for it in reversed(missing):
            it.mkdir(mode)
            self._folders.append(it)


def _write(path: Path, text: str, like: os.stat_result | None, *, private: bool) -> None:
    """Write a new file down to the disk, with owner and permissions of another, or not at all."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, FILE_MODE if private or like else 0o666)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(text.encode())
            file.flush()
            if like:
                _take_after(file.fileno(), like, private=private)
            os.fsync(file.fileno())
    except BaseException:
        path.unlink()
        raise


def _take_after(descriptor: int, like: os.stat_result, *, private: bool) -> None:
    if sys.platform == "win32":
        return  # a file there inherits its folder's permissions
    with suppress(PermissionError):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    if not private:
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _unwritable(file: Path, error: OSError) -> VrError:
    if error.errno in FULL:
        return VrError(
            f"{file} cannot be written: the disk is full.",
            Code.UNAVAILABLE,
            hint="Nothing was changed. Free some space and run it again.",
        )
    return VrError(
        f"{file} cannot be written: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint="Nothing was changed. Check the permissions of the file and its folder.",
    )
