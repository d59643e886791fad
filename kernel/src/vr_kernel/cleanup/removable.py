"""Finds by kind which files and rows of an installation can be removed."""

from __future__ import annotations

import shutil
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path

from vr_kernel.cleanup.artifacts import find_artifacts
from vr_kernel.cleanup.finding import BEING_WRITTEN_S, Removable, files_in, size_of, unlink
from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.state.adoption import ADOPTED
from vr_kernel.state.sqlite.cached_rows import clear_cache, measure_results

ADOPTED_S = 30 * 86_400
"""Seconds that a file of an earlier version is kept after its content was taken over."""
ARTIFACTS = "artifacts"


def find_removable(
    paths: Paths, kind: str, before: float, *, workspace: str = "default", store: str = "embedded"
) -> Removable:
    """Find things of a kind, of all workspaces, last changed before a time in epoch seconds.

    `workspace` is the owner's, `store` the configured one: both say which artifacts records need.
    """
    if kind == ARTIFACTS:
        return find_artifacts(paths, before, workspace, store)
    everybodys = (paths, *paths.workspaces()) if kind == "cache" else (paths,)
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


def _cache(paths: Paths, before: float) -> Removable:
    results = paths.cache / "results.db"
    count, size = measure_results(results, before)
    pages = [*files_in(paths.pages, before)]

    def remove() -> None:
        unlink(pages)
        clear_cache(paths.cache, before)

    note = "What is asked again is computed, or paid for, again."
    return Removable("cache", count + len(pages), size + size_of(pages), note, remove)


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

    size = size_of([file for path in found for file in (path, *path.rglob("*")) if file.is_file()])
    note = "What is asked about again is fetched again."
    return Removable("downloads", len(found), size, note, remove)


def _damaged(paths: Paths, before: float) -> Removable:
    found = [*files_in(paths.state, before), *files_in(paths.cache, before)]
    # A damaged journal is kept, since records may still be recovered from it.
    files = [
        p for p in found if ".damaged-" in p.name and not p.name.startswith(paths.journal.name)
    ]
    note = "Files that could not be read any more and were replaced; never a journal."
    return Removable("damaged", len(files), size_of(files), note, partial(unlink, files))


def _adopted(paths: Paths, before: float) -> Removable:
    files = [*files_in(paths.state, min(before, time.time() - ADOPTED_S))]
    files = [path for path in files if path.name.endswith(ADOPTED)]
    note = "Files of an earlier version, whose content was taken over a month ago."
    return Removable("adopted", len(files), size_of(files), note, partial(unlink, files))


_KINDS: dict[str, Callable[[Paths, float], Removable]] = {
    "downloads": _downloads,
    "damaged": _damaged,
    "adopted": _adopted,
    "cache": _cache,
}
KINDS = (*_KINDS, ARTIFACTS)
"""All kinds, in the order in which they are removed: first those that work even on a full disk."""


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
