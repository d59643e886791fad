"""Folders opened without following a link, so that nothing swapped meanwhile leads out of them."""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vr_kernel import Code, VrError, spelled_out
from vr_kernel.files import Policy

HAS_HANDLES = os.stat in os.supports_dir_fd and os.scandir in os.supports_fd
"""Windows has none: there a folder is known by its path."""
_ENTER = os.O_RDONLY | getattr(os, "O_DIRECTORY", 0) | getattr(os, "O_NOFOLLOW", 0)
_READ = (
    os.O_RDONLY
    | getattr(os, "O_NOFOLLOW", 0)
    | getattr(os, "O_NONBLOCK", 0)  # a pipe without a writer would never open
    | getattr(os, "O_BINARY", 0)
)


@dataclass(frozen=True, slots=True)
class OpenedFolder:
    """A folder by its descriptor; by its path where that cannot be.

    Attributes:
        handle: for `dir_fd`.
        prefix: put before a name in it; empty with a descriptor.
    """

    handle: int | None
    prefix: str

    def status(self, name: str) -> os.stat_result:
        """Return the status of an entry, which may be a link; an empty name is the folder."""
        if not name:
            return Path(self.prefix).stat() if self.handle is None else os.fstat(self.handle)
        return os.stat(self.prefix + name, dir_fd=self.handle, follow_symlinks=False)

    def open(self, name: str) -> int:
        """Open a file in it that is no link."""
        return os.open(self.prefix + name, _READ, dir_fd=self.handle)

    def enter(self, name: str) -> OpenedFolder:
        """Open a folder in it that is no link; the caller closes it."""
        path = self.prefix + name
        if self.handle is None:
            return OpenedFolder(None, path + os.sep)
        return OpenedFolder(os.open(path, _ENTER, dir_fd=self.handle), "")

    def close(self) -> None:
        """Release the descriptor."""
        if self.handle is not None:
            os.close(self.handle)

    @contextmanager
    def entries(self) -> Iterator[Iterator[os.DirEntry[str]]]:
        """Look into it, for a `with` block."""
        with os.scandir(self.prefix if self.handle is None else self.handle) as found:
            yield found


@contextmanager
def opened_folder(policy: Policy, folder: str | Path) -> Iterator[tuple[Path, OpenedFolder]]:
    """Open an allowed folder, for a `with` block that is given its real path, too.

    Raises:
        VrError: NOT_ALLOWED, also for a link; INVALID_INPUT or NOT_FOUND.
    """
    root, real = policy.resolve_folder(folder)
    opened = OpenedFolder(None, f"{root}{os.sep}")
    try:
        opened = _descended(root, real)
        yield real, opened
    except OSError as error:
        raise _unreadable(real, error) from error
    finally:
        opened.close()


def _descended(root: Path, real: Path) -> OpenedFolder:
    """Open a folder below a root, one name after the other."""
    if not HAS_HANDLES:
        return OpenedFolder(None, f"{real}{os.sep}")
    folder = OpenedFolder(os.open(root, _ENTER), "")
    try:
        for name in real.relative_to(root).parts:
            inner = folder.enter(name)
            folder.close()
            folder = inner
    except OSError:
        with suppress(OSError):
            folder.close()
        raise
    return folder


def _unreadable(folder: Path, error: OSError) -> VrError:
    return VrError(
        f"{spelled_out(folder)} cannot be read: {error.strerror}.",
        Code.NOT_ALLOWED,
        hint="Check the folder's permissions.",
    )
