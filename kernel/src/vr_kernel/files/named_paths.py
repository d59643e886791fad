"""Paths as people and clients name them, and the errors of those that cannot be used."""

from __future__ import annotations

import os
import stat
from pathlib import Path

from vr_kernel.errors import Code, VrError
from vr_kernel.text.visible_text import spelled_out

PATH_LIMIT = 4096
"""Longest path in characters; PATH_MAX of Linux."""


def parse_path(path: str | Path) -> Path:
    """Parse a path that a person or a client names.

    Raises:
        VrError: INVALID_INPUT when it can be no path.
    """
    text = str(path)
    if not text.strip() or len(text) > PATH_LIMIT or "\0" in text:
        raise _no_path("The path is empty, too long or holds a NUL character.")
    if text.startswith("file://"):
        raise VrError(
            "A file is named by its path, not by a file:// address.",
            Code.INVALID_INPUT,
            hint="Leave out file://.",
        )
    try:
        os.fsencode(text)
        path = Path(text)  # drops the ./ that protects a leading ~
        return (path.expanduser() if text.startswith("~") else path).absolute()
    except (RuntimeError, UnicodeEncodeError):
        raise _no_path("The path names no home folder, or characters no file has.") from None


def _no_path(message: str) -> VrError:
    return VrError(message, Code.INVALID_INPUT, hint="Give the path of one file.")


def require_regular(path: Path, mode: int) -> None:
    """Refuse what is no regular file.

    Raises:
        VrError: INVALID_INPUT for a folder, NOT_ALLOWED for a device, pipe or socket.
    """
    if stat.S_ISDIR(mode):
        raise VrError(
            f"{spelled_out(path)} is a folder.",
            Code.INVALID_INPUT,
            hint="Give the path of one file.",
        )
    if not stat.S_ISREG(mode):
        raise VrError(
            f"{spelled_out(path)} is not a regular file.",
            Code.NOT_ALLOWED,
            hint="Devices, pipes and sockets are not read.",
        )


def missing(path: Path, what: str = "file") -> VrError:
    """The error of a file, or a folder, that is not there."""
    return VrError(
        f"No such {what}: {spelled_out(path)}.",
        Code.NOT_FOUND,
        category="FILE_NOT_FOUND",
        hint="Check the spelling, or give an absolute path.",
    )


def no_folder(path: Path) -> VrError:
    """The error of a file where a folder is wanted."""
    return VrError(
        f"{spelled_out(path)} is no folder.", Code.INVALID_INPUT, hint="Give the path of a folder."
    )


def through_link(path: Path) -> VrError:
    """The error of a path that leads through a link, which writing never follows."""
    return VrError(
        f"{spelled_out(path)} is a link, or lies behind one.",
        Code.NOT_ALLOWED,
        category="PATH_IS_LINK",
        hint="Name the real file or folder.",
    )


def unwritable(path: Path, error: OSError) -> VrError:
    """The error of a file that cannot be made."""
    return VrError(
        f"{spelled_out(path)} cannot be written: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint="Check the folder's permissions and its free space.",
    )


def unreadable(path: Path, error: OSError) -> VrError:
    """The error of a file that cannot be read."""
    if isinstance(error, FileNotFoundError):
        return missing(path)
    return VrError(
        f"{spelled_out(path)} cannot be read: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint="Check the file's permissions.",
    )
