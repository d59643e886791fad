"""Writes, replaces and removes the files of a notes folder that were made from records."""

from __future__ import annotations

import errno
import os
import re
from itertools import count
from pathlib import Path

from vr_plugin_knowledge.notes.page import Seal, mark_of, read_seal

SUFFIX = ".md"
LONGEST = 10_000_000
"""Most bytes of a file; a larger one is not a note."""


class PageFolder:
    """Pages of records in one folder, with a subfolder per kind.

    A page that somebody changed is neither overwritten nor removed, and the new page goes beside
    it. Not safe for two threads or processes at once.

    Args:
        root: the notes folder; it is not made when it is missing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root
        self._names: dict[Path, list[str]] = {}

    def put(self, kind: str, key: str, stem: str, text: str) -> None:
        """Write the page of a record, replacing its former one.

        Raises:
            OSError: when it cannot be written; the former page is then unchanged.
        """
        folder = self._folder(kind)
        new = read_seal(text)
        for path, seal in self._pages(folder, key):
            if seal.whole:
                self._write(path, text, key)
                return
            if new is not None and seal.checksum == new.checksum:
                return  # somebody changed the page of this same record, and keeps it
        folder.mkdir(exist_ok=True)
        names = (f"{stem}{f'-{n}' if n > 1 else ''}{SUFFIX}" for n in count(1))
        path = next(each for name in names if not os.path.lexists(each := folder / name))
        self._write(path, text, key)
        self._names.setdefault(folder, []).append(path.name)

    def remove(self, kind: str, key: str) -> None:
        """Remove the page of a record, unless somebody changed it.

        Raises:
            OSError: when it cannot be removed.
        """
        for path, seal in self._pages(self._folder(kind), key):
            if seal.whole:
                path.unlink(missing_ok=True)

    def _folder(self, kind: str) -> Path:
        """The subfolder of a kind, which must lie inside the notes folder.

        Raises:
            FileNotFoundError: when the notes folder is missing.
            NotADirectoryError: when the subfolder leads out of it.
        """
        root = self._root.resolve()
        if not root.is_dir():
            raise FileNotFoundError(errno.ENOENT, "there is no such folder", str(root))
        folder = root / (re.sub(r"[^\w-]+", "-", kind).strip("-") or "Records")
        if folder.resolve() != folder:
            raise NotADirectoryError(errno.ENOTDIR, "it leads elsewhere", str(folder))
        return folder

    def _pages(self, folder: Path, key: str) -> list[tuple[Path, Seal]]:
        """The files that were made from a record, the oldest name first."""
        if folder not in self._names:
            self._names[folder] = (
                [each.name for each in folder.iterdir()] if folder.is_dir() else []
            )
        found = []
        mark = re.compile(rf"-{mark_of(key)}(-\d+)?{re.escape(SUFFIX)}$")
        for name in sorted(filter(mark.search, self._names[folder]), key=lambda n: (len(n), n)):
            path = folder / name
            seal = read_seal(read_text(path)) if path.is_file() and not path.is_symlink() else None
            if seal is not None and seal.key == key:
                found.append((path, seal))
        return found

    def _write(self, path: Path, text: str, key: str) -> None:
        part = path.with_name(f".{mark_of(key)}.part")
        try:
            with part.open("w", encoding="utf-8", errors="replace", newline="\n") as file:
                file.write(text)
                file.flush()
                os.fsync(file.fileno())
            part.replace(path)
        finally:
            part.unlink(missing_ok=True)


def read_text(path: Path) -> str:
    """A file's text; empty for one that is too large.

    Raises:
        OSError: when it cannot be read.
    """
    if path.stat().st_size > LONGEST:
        return ""
    return path.read_text("utf-8", errors="replace")
