"""Which files may be read: allowed roots, regular files, checked again once opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Sequence
from io import BufferedReader
from pathlib import Path

from vr_kernel.errors import Code, VrError

PATH_LIMIT = 4096
"""Longest path in characters; PATH_MAX of Linux."""
KERNEL_FILES = Path("/proc")
"""Look like files but are doors to processes and their secrets: never read, whatever the roots."""


class Policy:
    """Answers whether a path may be read. Every plugin opens the user's files through it."""

    def __init__(self, roots: Sequence[Path]) -> None:
        """`roots` are the folders below which files may be read."""
        self.roots = tuple(dict.fromkeys(root.expanduser().resolve() for root in roots))

    def resolve_file(self, path: str | Path) -> Path:
        """The real path of an allowed, existing, regular file.

        Raises:
            VrError: INVALID_INPUT, NOT_FOUND or NOT_ALLOWED.
        """
        wanted = _parse(path)
        try:
            real = Path(os.path.realpath(wanted))
            self._root_of(real, wanted)
            mode = real.lstat().st_mode
        except FileNotFoundError:
            raise _missing(wanted) from None
        except OSError as error:
            raise _unreadable(wanted, error) from error
        _require_regular(wanted, mode)
        return real

    def open_file(self, path: str | Path) -> BufferedReader:
        """Open an allowed file for reading; the file's `name` is its real path.

        No part below the root is opened through a symbolic link, and the descriptor is
        checked once more, so that a file or folder swapped after the check is refused.

        Raises:
            VrError: INVALID_INPUT, NOT_FOUND or NOT_ALLOWED.
        """
        real = self.resolve_file(path)
        root = self._root_of(real, real)
        try:
            file = open(real, "rb", opener=lambda _name, flags: _open_below(root, real, flags))  # noqa: SIM115 - handed to the caller
        except OSError as error:
            raise _unreadable(Path(path), error) from error
        try:
            self._check_opened(file.fileno(), real)
        except OSError as error:
            file.close()
            raise _unreadable(real, error) from error
        except VrError:
            file.close()
            raise
        return file

    def _check_opened(self, descriptor: int, real: Path) -> None:
        _require_regular(real, os.fstat(descriptor).st_mode)
        if Path(os.path.realpath(real)) != real:
            raise self._outside(real)
        if not os.path.samestat(os.fstat(descriptor), real.lstat()):
            raise self._outside(real)

    def _root_of(self, real: Path, wanted: Path) -> Path:
        for root in self.roots:
            if (real == root or root in real.parents) and KERNEL_FILES not in real.parents:
                return root
        raise self._outside(wanted)

    def _outside(self, path: Path) -> VrError:
        roots = ", ".join(_shown(root) for root in self.roots) or "none"
        return VrError(
            f"{_shown(path)} is outside the folders that may be read.",
            Code.NOT_ALLOWED,
            hint=f"Allowed: {roots}. Add a folder with VR_ALLOWED_ROOTS or"
            " allowed_roots in [kernel] of config.toml.",
        )


def server_roots(working_folder: Path, home: Path) -> list[Path]:
    """The folder a server was started in, unless that opens the home folder or more."""
    folder, own = working_folder.resolve(), home.resolve()
    too_wide = folder == Path(folder.anchor) or folder == own or folder in own.parents
    return [] if too_wide else [folder]


def _open_below(root: Path, real: Path, flags: int) -> int:
    """Open without following a link below the root, and without waiting for a pipe's other end.

    It descends folder by folder: a folder that is swapped for a link meanwhile is refused.
    """
    itself = getattr(os, "O_NOFOLLOW", 0)
    at_once = itself | getattr(os, "O_NONBLOCK", 0)
    if os.open not in os.supports_dir_fd:
        return os.open(real, flags | at_once)
    top = real.parent if real == root else root
    *folders, name = real.relative_to(top).parts
    descend = itself | os.O_DIRECTORY | getattr(os, "O_PATH", os.O_RDONLY)
    descriptor = os.open(top, descend)
    try:
        for folder in folders:
            inner = os.open(folder, descend, dir_fd=descriptor)
            os.close(descriptor)
            descriptor = inner
        return os.open(name, flags | at_once, dir_fd=descriptor)
    finally:
        os.close(descriptor)


def _parse(path: str | Path) -> Path:
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
        path = Path(text)  # drops the ./ that keeps a leading ~ what it is
        return (path.expanduser() if text.startswith("~") else path).absolute()
    except (RuntimeError, UnicodeEncodeError):
        raise _no_path("The path names no home folder, or characters no file has.") from None


def _no_path(message: str) -> VrError:
    return VrError(message, Code.INVALID_INPUT, hint="Give the path of one file.")


def _require_regular(path: Path, mode: int) -> None:
    if stat.S_ISDIR(mode):
        raise VrError(
            f"{_shown(path)} is a folder.", Code.INVALID_INPUT, hint="Give the path of one file."
        )
    if not stat.S_ISREG(mode):
        raise VrError(
            f"{_shown(path)} is not a regular file.",
            Code.NOT_ALLOWED,
            hint="Devices, pipes and sockets are not read.",
        )


def _shown(path: Path) -> str:
    """A path as a message names it: what steers a terminal, or is not seen, is spelled out."""
    return "".join(char if char.isprintable() else ascii(char)[1:-1] for char in str(path))


def _missing(path: Path) -> VrError:
    return VrError(
        f"No such file: {_shown(path)}.",
        Code.NOT_FOUND,
        category="FILE_NOT_FOUND",
        hint="Check the spelling, or give an absolute path.",
    )


def _unreadable(path: Path, error: OSError) -> VrError:
    if isinstance(error, FileNotFoundError):
        return _missing(path)
    return VrError(
        f"{_shown(path)} cannot be read: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint="Check the file's permissions.",
    )
