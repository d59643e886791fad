"""An opened folder, in which files are found, made and replaced through no link."""

from __future__ import annotations

import os
import stat
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass
from pathlib import Path

from vr_kernel.files.named_paths import missing, no_folder, through_link
from vr_kernel.files.open_beneath import NEW_FILE, open_beneath

NEW_FOLDER = 0o700
"""Permissions of a folder that is made: the user's alone."""
_DESCRIPTORS = Path("/proc/self/fd")


@dataclass(frozen=True, slots=True)
class OpenFolder:
    """A folder by its descriptor, so that nobody can swap it; by its path where that cannot be."""

    path: Path
    handle: int | None

    @classmethod
    @contextmanager
    def at(cls, root: Path, real: Path, inner: list[str], *, make: bool) -> Iterator[OpenFolder]:
        """Open a folder below a root, and those inside it one by one; `make` those that lack.

        Raises:
            VrError: NOT_FOUND; NOT_ALLOWED for a link, INVALID_INPUT for a file in its place.
            OSError: what cannot be opened or made.
        """
        has_handles = os.open in os.supports_dir_fd
        handle = open_beneath(root, real, os.O_RDONLY | os.O_DIRECTORY) if has_handles else None
        folder = cls(real, handle)
        try:
            for name in inner:
                entered = folder._entered(name, make=make)
                folder.close()
                folder = entered
            yield folder
        finally:
            folder.close()

    def close(self) -> None:
        """Release the descriptor."""
        if self.handle is not None:
            os.close(self.handle)

    def status(self, name: str) -> os.stat_result | None:
        """The status of an entry, which may be a link; None when there is none."""
        with suppress(FileNotFoundError):
            return os.stat(self._at(name), dir_fd=self.handle, follow_symlinks=False)
        return None

    def open(self, name: str, flags: int) -> int:
        """Open an entry that is no link, without waiting for a pipe's other end."""
        careful = getattr(os, "O_NOFOLLOW", 0) | getattr(os, "O_NONBLOCK", 0)
        binary = getattr(os, "O_BINARY", 0)
        return os.open(self._at(name), flags | careful | binary, NEW_FILE, dir_fd=self.handle)

    def open_unnamed(self) -> int | None:
        """Make a file without a name, which ends with its writer; None where that cannot be."""
        flag = getattr(os, "O_TMPFILE", 0)
        if flag and self.handle is not None and _DESCRIPTORS.is_dir():
            with suppress(OSError):  # not every file system can
                return self.open(".", os.O_WRONLY | flag)
        return None

    def ensure_named(self, file: int, name: str) -> None:
        """Give a file a name, if it has none."""
        if self.handle is not None and os.fstat(file).st_nlink == 0:
            os.link(_DESCRIPTORS / str(file), name, dst_dir_fd=self.handle, follow_symlinks=True)

    def replace(self, source: str, target: str) -> None:
        """Give a file another name, in place of the file that has it."""
        places = self._at(source), self._at(target)
        os.replace(*places, src_dir_fd=self.handle, dst_dir_fd=self.handle)

    def settle(self, source: str, target: str) -> None:
        """Give a file a name that is free.

        Raises:
            FileExistsError: when it is not.
        """
        if self.handle is None:  # Windows renames to no name that is taken
            os.rename(self._at(source), self._at(target))  # noqa: PTH104 - one way for both
            return
        try:
            os.link(source, target, src_dir_fd=self.handle, dst_dir_fd=self.handle)
        except FileExistsError:
            raise
        except OSError:  # a file system without second names
            self.replace(source, target)
        else:
            self.remove(source)

    def remove(self, name: str) -> None:
        """Remove a file that may be gone."""
        with suppress(FileNotFoundError):
            os.unlink(self._at(name), dir_fd=self.handle)

    def sync(self) -> None:
        """Have the names in it survive a power cut."""
        if self.handle is not None:
            with suppress(OSError):  # not every file system can
                os.fsync(self.handle)

    def _entered(self, name: str, *, make: bool) -> OpenFolder:
        path = self.path / name
        found = self.status(name)
        if found is None and make:
            with suppress(FileExistsError):
                os.mkdir(self._at(name), NEW_FOLDER, dir_fd=self.handle)
                self.sync()
            found = self.status(name)
        if found is None:
            raise missing(path, "folder")
        if is_link(found):
            raise through_link(path)
        if not stat.S_ISDIR(found.st_mode):
            raise no_folder(path)
        inner = None if self.handle is None else self.open(name, os.O_RDONLY | os.O_DIRECTORY)
        return OpenFolder(path, inner)

    def _at(self, name: str) -> str:
        return name if self.handle is not None else str(self.path / name)


def is_link(status: os.stat_result) -> bool:
    """Check if an entry is a symbolic link, or a junction of Windows."""
    tag = getattr(status, "st_reparse_tag", 0)
    junction = tag != 0 and tag == getattr(stat, "IO_REPARSE_TAG_MOUNT_POINT", -1)
    return stat.S_ISLNK(status.st_mode) or junction
