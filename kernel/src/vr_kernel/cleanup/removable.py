"""Finds by kind which files and rows of an installation can be removed."""

from __future__ import annotations

import asyncio
import os
import shutil
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.files.artifact_folder import ArtifactFolder
from vr_kernel.files.artifacts import PART
from vr_kernel.state.adoption import ADOPTED
from vr_kernel.state.artifacts import ArtifactStore
from vr_kernel.state.sqlite.cached_rows import (
    clear_cache,
    forget_results,
    measure_results,
    named_artifacts,
)

ADOPTED_S = 30 * 86_400
"""Seconds that a file of an earlier version is kept after its content was taken over."""
BEING_WRITTEN_S = 3600
"""A partly written file younger than this, in seconds, may belong to a running call."""
ENOUGH_BYTES = 1 << 18
"""Free bytes that are enough to remove rows."""


@dataclass(frozen=True, slots=True)
class Removable:
    """Things of one kind that can be removed: their count, bytes, and a note for the user.

    `remove` removes them, and raises `OSError` or `VrError` when it cannot. `unread` is the error
    that kept some from being found.
    """

    kind: str
    count: int
    size: int
    note: str
    remove: Callable[[], None]
    unread: str = ""


def find_removable(paths: Paths, kind: str, before: float) -> Removable:
    """Find things of a kind, of all workspaces, last changed before a time in epoch seconds."""
    everybodys = (paths, *paths.workspaces()) if kind in ("artifacts", "cache") else (paths,)
    found, unread = [], ""
    for each in everybodys:
        try:
            found.append(_KINDS[kind](each, before))
        except VrError as error:
            unread = f"{error.message} {error.hint}"

    def remove() -> None:
        for each in found:
            each.remove()

    count, size = sum(each.count for each in found), sum(each.size for each in found)
    return Removable(kind, count, size, found[0].note if found else "", remove, unread)


def _artifacts(paths: Paths, before: float) -> Removable:
    store = ArtifactFolder(paths.artifacts)
    files = asyncio.run(_older(store, before))
    unfinished = min(before, time.time() - BEING_WRITTEN_S)
    parts = [path for path in _files(paths.artifacts, unfinished) if path.name.startswith(PART)]

    def remove() -> None:
        results = paths.cache / "results.db"
        named = named_artifacts(results)
        _unlink(parts)
        asyncio.run(_delete(store, files.keys() - named))
        rest = files.keys() & named
        # First: a result must not name a picture that is gone.
        _with_room(partial(forget_results, results, rest), [store.folder / name for name in rest])
        asyncio.run(_delete(store, rest))

    note = "Cached results that name them are forgotten as well; records keep their text."
    size = sum(files.values()) + _size(parts)
    return Removable("artifacts", len(files) + len(parts), size, note, remove)


async def _older(store: ArtifactStore, before: float) -> dict[str, int]:
    """The sizes of artifacts from before a time, by name."""
    return {it.name: it.size async for it in store.list() if it.modified < before}


async def _delete(store: ArtifactStore, names: Iterable[str]) -> None:
    for name in names:
        await store.delete(name)


def _cache(paths: Paths, before: float) -> Removable:
    results = paths.cache / "results.db"
    count, size = measure_results(results, before)
    pages = [*_files(paths.pages, before)]

    def remove() -> None:
        _unlink(pages)
        clear_cache(paths.cache, before)

    note = "What is asked again is computed, or paid for, again."
    return Removable("cache", count + len(pages), size + _size(pages), note, remove)


def _downloads(paths: Paths, before: float) -> Removable:
    unfinished = min(before, time.time() - BEING_WRITTEN_S)
    found = [
        path
        for path in _entries(paths.downloads)
        if _last_change(path) < (unfinished if path.name.startswith(".") else before)
    ]

    def remove() -> None:
        for path in found:
            if path.is_dir():
                shutil.rmtree(path)
            else:
                path.unlink(missing_ok=True)

    size = _size([file for path in found for file in (path, *path.rglob("*")) if file.is_file()])
    note = "What is asked about again is fetched again."
    return Removable("downloads", len(found), size, note, remove)


def _damaged(paths: Paths, before: float) -> Removable:
    found = [*_files(paths.state, before), *_files(paths.cache, before)]
    # A damaged journal is kept, since records may still be recovered from it.
    files = [
        p for p in found if ".damaged-" in p.name and not p.name.startswith(paths.journal.name)
    ]
    note = "Files that could not be read any more and were replaced; never a journal."
    return Removable("damaged", len(files), _size(files), note, partial(_unlink, files))


def _adopted(paths: Paths, before: float) -> Removable:
    files = [*_files(paths.state, min(before, time.time() - ADOPTED_S))]
    files = [path for path in files if path.name.endswith(ADOPTED)]
    note = "Files of an earlier version, whose content was taken over a month ago."
    return Removable("adopted", len(files), _size(files), note, partial(_unlink, files))


_KINDS: dict[str, Callable[[Paths, float], Removable]] = {
    "downloads": _downloads,
    "damaged": _damaged,
    "adopted": _adopted,
    "cache": _cache,
    "artifacts": _artifacts,
}
KINDS = tuple(_KINDS)
"""All kinds, in the order in which they are removed: first those that work even on a full disk."""


def _files(folder: Path, before: float) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        yield Path(entry.path)


def _entries(folder: Path) -> list[Path]:
    """Files and folders in a folder, without links."""
    with suppress(FileNotFoundError, NotADirectoryError):
        return [path for path in folder.iterdir() if not path.is_symlink()]
    return []


def _last_change(path: Path) -> float:
    """The time of the last change to a file, or to anything in a folder."""
    times = [0.0]
    for each in (path, *path.rglob("*")):
        with suppress(FileNotFoundError):
            times.append(each.lstat().st_mtime)
    return max(times)


def _with_room(work: Callable[[], None], files: list[Path]) -> None:
    """Do the work; where there is no room for it, remove some of the files first."""
    try:
        work()
    except VrError as error:
        if not error.retryable or not files:
            raise
    else:
        return
    held: dict[Path, bytes] = {}
    for path in sorted(files, key=lambda path: path.stat().st_size):
        if sum(map(len, held.values())) < ENOUGH_BYTES:
            held[path] = path.read_bytes()
    _unlink(list(held))
    try:
        work()
    except VrError:
        for path, content in held.items():
            path.write_bytes(content)
        raise


def _unlink(files: list[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)


def _size(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.exists())
