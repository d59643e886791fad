"""A file that `-o` wrote: found by its name, and read as JSON."""

from __future__ import annotations

import json
import os
from pathlib import Path
from stat import S_ISBLK, S_ISCHR, S_ISDIR, S_ISFIFO, S_ISLNK, S_ISREG
from typing import Any

from vr_kernel import Code, VrError
from vr_kernel import visible_line as line

MOST_BYTES = 64_000_000
"""Largest file that is read as a view."""
ENDING = ".json"
WRITTEN = (".md", ".html", ".txt")
"""Endings of files that `-o` writes and nothing reads again."""
_WRITTEN = "`vr show … -o FILE.json` writes a file that is shown again."
_UNTOUCHED = "Files that -o wrote are shown again as they were written."


def plain_file(text: str) -> Path | None:
    """The file that a text names, if it is one that can be read without waiting."""
    path = _named(text)
    try:
        return path if path and path.is_file() else None
    except (OSError, ValueError):
        return None


def hint_of_file(text: str) -> str:
    """The words about a file of which nothing is known; none where no file is named."""
    path = plain_file(text)
    if path is None:
        return ""
    if path.suffix.lower() in WRITTEN:
        return "Of the files that -o writes, those with .json are shown again. "
    return "Nothing was recorded about this file yet: give it to a command that reads such files. "


def require_plain(text: str) -> None:
    """Refuse a name with .json or with a folder that something else than a file has.

    Raises:
        VrError: INVALID_INPUT, saying what is there.
    """
    path = _named(text)
    if path is None or not (path.suffix.lower() == ENDING or path.name != text):
        return
    if said := _other(path):
        category = "FILE_NOT_PLAIN"
        raise VrError(f"{line(text)} {said}.", Code.INVALID_INPUT, category=category, hint=_WRITTEN)


def read_kept(path: Path) -> Any:
    """Return what a JSON file holds.

    Raises:
        VrError: INVALID_INPUT for a file that cannot be read as JSON; TOO_LARGE.
    """
    content = _read(path)
    if not content.strip():
        raise _unread(path, "is empty", _WRITTEN)
    try:
        return json.loads(content.decode("utf-8-sig"))
    except UnicodeDecodeError as error:
        hint = "Let `-o FILE.json` write it: in PowerShell, > may write UTF-16."
        raise _unread(path, "is not in UTF-8", hint) from error
    except json.JSONDecodeError as error:
        where = f"line {error.lineno}, column {error.colno}"
        raise _unread(path, f"is no JSON: its first fault is at {where}", _UNTOUCHED) from error
    except RecursionError as error:
        raise _unread(path, "is nested too deeply", _UNTOUCHED) from error
    except ValueError as error:
        raise _unread(path, "has a number with too many digits", _UNTOUCHED) from error


def _named(text: str) -> Path | None:
    try:
        return Path(text.removeprefix("file://")).expanduser().absolute()
    except (OSError, ValueError, RuntimeError):
        return None


def _other(path: Path) -> str:
    """The words for what has a name and is no plain file; none for a file and for nothing."""
    try:
        if not os.path.lexists(path):
            return ""
        mode = (path.stat() if path.exists() else path.lstat()).st_mode
    except (OSError, ValueError):
        return ""
    if S_ISREG(mode):
        return ""
    if S_ISDIR(mode):
        return "is a folder"
    if S_ISLNK(mode):
        return "is a link that leads nowhere"
    kind = "a pipe" if S_ISFIFO(mode) else "a device" if S_ISCHR(mode) or S_ISBLK(mode) else ""
    return f"is {kind}, no plain file" if kind else "is no plain file"


def _read(path: Path) -> bytes:
    try:
        with path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except OSError as error:
        reason = (error.strerror or "the system refuses").lower()
        hint = "Give a file that you may read."
        raise _unread(path, f"cannot be read: {reason}", hint) from error
    if len(content) > MOST_BYTES:
        hint = f"Files of at most {MOST_BYTES // 1_000_000} MB are shown."
        raise VrError(f"{_shown(path)} is too large to be shown.", Code.TOO_LARGE, hint=hint)
    return content


def _shown(path: Path) -> str:
    return line(path.name)


def _unread(path: Path, said: str, hint: str) -> VrError:
    message = f"{_shown(path)} {said}."
    return VrError(message, Code.INVALID_INPUT, category="FILE_UNREADABLE", hint=hint)
