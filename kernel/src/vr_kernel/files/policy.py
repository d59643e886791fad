"""Policy of files that may be read and made: below allowed roots, checked again once opened."""

from __future__ import annotations

import os
import stat
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import closing, contextmanager
from io import BufferedReader, BufferedWriter
from pathlib import Path
from typing import NamedTuple

from vr_kernel.errors import Code, VrError
from vr_kernel.files.named_paths import (
    missing,
    no_folder,
    parse_path,
    require_regular,
    through_link,
    unreadable,
    unwritable,
)
from vr_kernel.text.visible_text import spelled_out

KERNEL_FILES = Path("/proc")
"""Look like files but expose processes and their secrets: never read, whatever the roots."""
ALLOW_BY = "Allow another: `vr init --folder DIR`, VR_ALLOWED_ROOTS, allowed_roots in [kernel]."
NUMBERS = 1000
"""Maximum number of files with the same name in one folder."""


class FileMatches(NamedTuple):
    """Files that match a pattern, and whether there are no more of them than these."""

    paths: tuple[Path, ...]
    complete: bool


class Policy:
    """Answers which files may be read and made. Every plugin opens files through it."""

    def __init__(
        self,
        roots: Sequence[str | Path],
        allow_by: str = ALLOW_BY,
        untold: Path | None = None,
        reserved: Iterable[Path] = (),
    ) -> None:
        """Allow `roots`, and `untold`, which errors never name; `allow_by` says how to add one.

        Files below `reserved` folders are the program's own: they are read, and not changed.
        """
        self._reserved = tuple(Path(each).expanduser().resolve() for each in reserved)
        folders = [Path(root).expanduser().resolve() for root in (untold, *roots) if root]
        self.roots, self._untold = tuple(dict.fromkeys(folders)), folders[0] if untold else None
        self._named: tuple[Path, ...] = ()
        self._allow_by = allow_by

    def allow(self, path: str | Path) -> None:
        """Let a path be read that the person typed: a folder with all below it, or a file.

        Files next to it with the same stem, such as `talk.srt` for `talk.mp4`, are allowed, too.

        Raises:
            VrError: INVALID_INPUT when it can be no path.
        """
        real = Path(os.path.realpath(parse_path(path)))
        if os.path.isdir(real):  # noqa: PTH112 - a folder that may not be entered is no error here
            self.roots = (*self.roots, real)
        else:
            self._named = (*self._named, real)

    def resolve_file(self, path: str | Path) -> Path:
        """The real path of an allowed, existing, regular file.

        Raises:
            VrError: INVALID_INPUT, NOT_FOUND or NOT_ALLOWED.
        """
        wanted = parse_path(path)
        try:
            real = Path(os.path.realpath(wanted))
            self._root_of(real, wanted)
            mode = real.lstat().st_mode
        except FileNotFoundError:
            raise missing(wanted) from None
        except OSError as error:
            raise unreadable(wanted, error) from error
        require_regular(wanted, mode)
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
            file = open(real, "rb", opener=_opener(root, real))  # noqa: SIM115 - handed to the caller
        except OSError as error:
            raise unreadable(Path(path), error) from error
        try:
            self._check_opened(file.fileno(), real)
        except OSError as error:
            file.close()
            raise unreadable(real, error) from error
        except VrError:
            file.close()
            raise
        return file

    def match_files(self, folder: str | Path, pattern: str, *, limit: int = 1000) -> FileMatches:
        """The files below an allowed folder that match a pattern; blocks.

        `*`, `?` and `[…]` stand for parts of one name, `**` for any folders between. Hidden files
        and folders are matched only by a name that begins with a dot. Links to folders are not
        followed, links to files only to what may be read. At most 100,000 entries are looked at,
        for at most 5 seconds.

        Args:
            folder: where to look.
            pattern: counts from the folder.
            limit: maximum number of files returned.

        Raises:
            VrError: INVALID_INPUT, category PATTERN_INVALID for a pattern that leads out of the
                folder; as `resolve_file` for the folder.
        """
        from vr_kernel.files.patterns import Search, parse_pattern

        search = Search(parse_pattern(pattern))
        paths: list[Path] = []
        with (
            self._opened_folder(folder) as (real, handle),
            closing(search.below(real, handle)) as found,
        ):
            for path, is_link in found:
                if is_link and not self._may_read(path):
                    continue
                if len(paths) == limit:
                    return FileMatches(tuple(paths), complete=False)
                paths.append(path)
        return FileMatches(tuple(paths), search.complete)

    def create_file(self, folder: str | Path, name: str) -> BufferedWriter:
        """Make a new file in an allowed folder; the file's `name` is its real path.

        `name` may be any text of a stranger: a title, a header, a path. It is reduced to one part
        of a path. A name that is taken gets a number; nothing is ever overwritten, and no link is
        followed.

        Raises:
            VrError: NOT_ALLOWED; CONFLICT when a thousand files of that name are there; as
                `resolve_file` for the folder.
        """
        from vr_kernel.files.names import numbered, safe_name

        safe = safe_name(name)
        with self._opened_folder(folder) as (real, _):
            for number in range(1, NUMBERS + 1):
                path = real / (safe if number == 1 else numbered(safe, number))
                try:
                    return self._created(path)
                except FileExistsError:
                    continue
                except OSError as error:
                    raise unwritable(path, error) from error
        raise VrError(
            f"{spelled_out(real / safe)} and {NUMBERS - 1} more of that name are there.",
            Code.CONFLICT,
            hint="Move some away, or give another name or folder.",
        )

    def _created(self, path: Path) -> BufferedWriter:
        root = self._root_of(path, path)
        file = open(path, "xb", opener=_opener(root, path))  # noqa: SIM115 - handed to the caller
        try:
            self._check_opened(file.fileno(), path)
        except BaseException:
            file.close()
            raise
        return file

    def resolve_folder(self, folder: str | Path) -> tuple[Path, Path]:
        """The root of an allowed folder, and its real path, to which no link leads from there.

        Raises:
            VrError: NOT_ALLOWED, also for a link; INVALID_INPUT or NOT_FOUND.
        """
        wanted = parse_path(folder)
        real = Path(os.path.realpath(wanted))
        root = self._root_of(real, wanted)
        if root == self._untold or root not in self.roots:
            raise self._outside(wanted)
        named = Path(os.path.normpath(wanted))
        above = (it for it in (named, *named.parents) if Path(os.path.realpath(it)) == root)
        if not any(root / named.relative_to(it) == real for it in above):
            raise through_link(wanted)
        try:
            if not stat.S_ISDIR(real.lstat().st_mode):
                raise no_folder(wanted)
        except FileNotFoundError:
            raise missing(wanted, "folder") from None
        except OSError as error:
            raise unreadable(wanted, error) from error
        return root, real

    def require_writable(self, path: Path) -> None:
        """Refuse the real path of a file of the program's own.

        Raises:
            VrError: NOT_ALLOWED.
        """
        if any(path.is_relative_to(each) for each in self._reserved):
            raise VrError(
                f"{spelled_out(path)} cannot be written: it belongs to this program.",
                Code.NOT_ALLOWED,
                hint="Write to another folder.",
            )

    @contextmanager
    def _opened_folder(self, folder: str | Path) -> Iterator[tuple[Path, int]]:
        """The real path of an allowed folder, and the folder opened; -1 where that cannot be."""
        wanted = parse_path(folder)
        handle = -1
        try:
            real = Path(os.path.realpath(wanted))
            root = self._root_of(real, wanted)
            if not stat.S_ISDIR(real.lstat().st_mode):
                raise no_folder(wanted)
            if os.scandir in os.supports_fd:
                handle = _opener(root, real)("", os.O_RDONLY | os.O_DIRECTORY)
        except FileNotFoundError:
            raise missing(wanted, "folder") from None
        except OSError as error:
            raise unreadable(wanted, error) from error
        try:
            yield real, handle
        finally:
            if handle >= 0:
                os.close(handle)

    def _may_read(self, path: Path) -> bool:
        try:
            return bool(self.resolve_file(path))
        except VrError:
            return False

    def _check_opened(self, descriptor: int, real: Path) -> None:
        require_regular(real, os.fstat(descriptor).st_mode)
        if Path(os.path.realpath(real)) != real:
            raise self._outside(real)
        if not os.path.samestat(os.fstat(descriptor), real.lstat()):
            raise self._outside(real)

    def _root_of(self, real: Path, wanted: Path) -> Path:
        if KERNEL_FILES not in real.parents:
            for root in self.roots:
                if real == root or root in real.parents:
                    return root
            beside = (it.stem for it in self._named if it.parent == real.parent)
            if real in self._named or any(real.name.startswith(f"{stem}.") for stem in beside):
                return real
        raise self._outside(wanted)

    def _outside(self, path: Path) -> VrError:
        named = Path(path.name) if self._untold else path  # only the owner may know the rest
        roots = (
            ", ".join(spelled_out(root) for root in self.roots if root != self._untold) or "none"
        )
        return VrError(
            f"{spelled_out(named)} is outside the folders that may be read.",
            Code.NOT_ALLOWED,
            hint=f"Allowed: {roots}. {self._allow_by}",
        )


def _opener(root: Path, path: Path) -> Callable[[str, int], int]:
    """Opens a path through no symbolic link below the root; for `opener` of `open`."""
    from vr_kernel.files.open_beneath import open_beneath

    return lambda _name, flags: open_beneath(root, path, flags)
