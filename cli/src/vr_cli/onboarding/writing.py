"""Writes files one by one, each atomically and with a copy of its former text."""

from __future__ import annotations

import errno
import os
import stat
import sys
import uuid
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, VrError

from vr_cli.onboarding.changes import Change

FULL = {errno.ENOSPC, errno.EDQUOT, errno.EFBIG}
UNTOUCHED = "It was left as it is."


@dataclass(frozen=True, slots=True)
class Written:
    """A file that was written, and the copy of its former text; None for a new file."""

    file: Path
    backup: Path | None


def write_file(change: Change, stamp: str) -> Written:
    """Write one change; `stamp` ends the name of the copy of a file that is replaced.

    Raises:
        VrError: UNAVAILABLE on a full disk, NOT_ALLOWED, or CONFLICT when another program wrote the
            file meanwhile. On each of them the file stays as it was.
    """
    file = change.file
    new = file.with_name(f".{file.name}.{uuid.uuid4().hex[:8]}")
    backup = file.with_name(f"{file.name}.{stamp}.bak") if change.before is not None else None
    made: list[Path] = []
    try:
        made += _make_folders(file.parent, private=change.private)
        status = file.stat() if backup else None
        _write(new, change.after, status, private=change.private)
        if backup:
            _write(backup, change.before or "", status, private=change.private)
        _require_unchanged(change)
        new.replace(file)
    except (OSError, VrError) as error:
        for left in (new, *([backup] if backup else [])):
            with suppress(OSError):
                left.unlink()
        for folder in reversed(made):
            with suppress(OSError):
                folder.rmdir()
        raise _unwritable(file, error) if isinstance(error, OSError) else error from None
    return Written(file, backup)


def _require_unchanged(change: Change) -> None:
    """Check that the file is still as it was read.

    Raises:
        VrError: CONFLICT.
    """
    try:
        now = change.file.read_bytes()
    except FileNotFoundError:
        now = None
    if now != (None if change.before is None else change.before.encode()):
        raise VrError(
            f"Another program wrote {change.file} meanwhile.",
            Code.CONFLICT,
            hint=f"{UNTOUCHED} Close that program and run it again.",
            retryable=True,
        )


def _make_folders(folder: Path, *, private: bool) -> list[Path]:
    missing = [each for each in (folder, *folder.parents) if not each.exists()]
    for each in reversed(missing):
        each.mkdir(0o700 if private else 0o777)
    return missing[::-1]


def _write(path: Path, text: str, like: os.stat_result | None, *, private: bool) -> None:
    """Write a new file and sync it to the disk, with the owner and permissions of another file."""
    flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_BINARY", 0)
    descriptor = os.open(path, flags, 0o600 if private or like else 0o666)
    with os.fdopen(descriptor, "wb") as file:
        file.write(text.encode())
        file.flush()
        if like:
            _take_after(file.fileno(), like, private=private)
        os.fsync(file.fileno())


def _take_after(descriptor: int, like: os.stat_result, *, private: bool) -> None:
    if sys.platform == "win32":
        return  # on Windows a file inherits its folder's permissions
    with suppress(PermissionError):
        os.fchown(descriptor, like.st_uid, like.st_gid)
    if not private:
        os.fchmod(descriptor, stat.S_IMODE(like.st_mode))


def _unwritable(file: Path, error: OSError) -> VrError:
    if error.errno in FULL:
        return VrError(
            f"{file} cannot be written: the disk is full.",
            Code.UNAVAILABLE,
            hint=f"{UNTOUCHED} Free some space and run it again.",
        )
    return VrError(
        f"{file} cannot be written: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint=f"{UNTOUCHED} Check the permissions of the file and its folder.",
    )
