"""What an installation can do without, by kind: found first, removed when told to."""

from __future__ import annotations

import os
import shutil
import time
from collections.abc import Callable, Iterator
from contextlib import suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vr_kernel import VrError
from vr_kernel.config import Paths
from vr_kernel.files import Artifacts

from vr_cli.cleanup.leftover_rows import (
    clear_cache,
    forget_results,
    measure,
    named_artifacts,
    prune_jobs,
)

BEING_WRITTEN_S = 3600
"""A partly written file that is younger may belong to a running call."""
ENOUGH_BYTES = 1 << 18
"""Room in which rows can be removed."""


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What of one kind can be removed: how many things, bytes, and what a user should know.

    `remove` removes them, and raises `OSError` or `VrError` when it cannot. `unread` says what
    could not be looked at.
    """

    kind: str
    count: int
    size: int
    note: str
    remove: Callable[[], None]
    unread: str = ""


def find_leftovers(paths: Paths, kind: str, before: float) -> Leftovers:
    """What of a kind, of all workspaces, was last changed before that time, in epoch seconds."""
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
    return Leftovers(kind, count, size, found[0].note if found else "", remove, unread)


def _artifacts(paths: Paths, before: float) -> Leftovers:
    files = [path for path in _files(paths.artifacts, before) if _is_artifact(path)]

    def remove() -> None:
        results = paths.cache / "results.db"
        named = named_artifacts(results)
        _unlink([path for path in files if path.name not in named])
        rest = [path for path in files if path.name in named]
        # First: a result must not name a picture that is gone.
        _with_room(partial(forget_results, results, {path.name for path in rest}), rest)
        _unlink(rest)

    note = "Cached results that name them are forgotten as well; records keep their text."
    return Leftovers("artifacts", len(files), _size(files), note, remove)


def _cache(paths: Paths, before: float) -> Leftovers:
    results = paths.cache / "results.db"
    count, size = measure(
        results, "SELECT count(*), total(length(value)) FROM result WHERE cached_at < ?", before
    )
    note = "What is asked again is computed, or paid for, again."
    return Leftovers("cache", count, size, note, partial(clear_cache, paths.cache, before))


def _downloads(paths: Paths, before: float) -> Leftovers:
    unfinished = min(before, time.time() - BEING_WRITTEN_S)
    files = [
        path
        for path in _files(paths.downloads, before)
        if not path.name.startswith(".") or path.stat().st_mtime < unfinished
    ]
    folders = _unfinished(paths.downloads, unfinished)
    inside = [path for folder in folders for path in folder.rglob("*") if path.is_file()]

    def remove() -> None:
        _unlink(files)
        for folder in folders:
            with suppress(FileNotFoundError):
                shutil.rmtree(folder)

    note = "What is asked about again is fetched again."
    count, size = len(files) + len(folders), _size(files + inside)
    return Leftovers("downloads", count, size, note, remove)


def _logs(paths: Paths, before: float) -> Leftovers:
    files = [path for path in _files(paths.state / "logs", before) if path.suffix == ".log"]
    note = "Logs go to stderr; these are files that something else kept."
    return Leftovers("logs", len(files), _size(files), note, partial(_unlink, files))


def _jobs(paths: Paths, before: float) -> Leftovers:
    ledger = paths.state / "jobs.db"
    ended = "SELECT id FROM job WHERE state <> 'running' AND updated_at < ?1"
    query = (
        "SELECT count(*), total(length(arguments) + coalesce(length(result), 0)) + (SELECT"  # noqa: S608 - constant text
        f" total(length(reply)) FROM step WHERE scope IN (SELECT 'job/' || id FROM ({ended})))"
        f" FROM job WHERE id IN ({ended})"
    )
    count, size = measure(ledger, query, before)
    note = "Jobs that have ended, with their results; none that is running or interrupted."
    return Leftovers("jobs", count, size, note, partial(prune_jobs, ledger, before))


def _damaged(paths: Paths, before: float) -> Leftovers:
    found = [*_files(paths.state, before), *_files(paths.cache, before)]
    # Records may still be rescued from a journal, and from nothing else.
    files = [
        p for p in found if ".damaged-" in p.name and not p.name.startswith(paths.journal.name)
    ]
    note = "Files that could not be read any more and were replaced; never a journal."
    return Leftovers("damaged", len(files), _size(files), note, partial(_unlink, files))


_KINDS: dict[str, Callable[[Paths, float], Leftovers]] = {
    "downloads": _downloads,
    "logs": _logs,
    "damaged": _damaged,
    "cache": _cache,
    "artifacts": _artifacts,
    "jobs": _jobs,
}
KINDS = tuple(_KINDS)
"""All kinds, in the order in which they are removed: first what goes on a full disk, too."""


def _files(folder: Path, before: float) -> Iterator[Path]:
    with suppress(FileNotFoundError, NotADirectoryError), os.scandir(folder) as entries:
        for entry in entries:
            if entry.is_file(follow_symlinks=False):
                with suppress(FileNotFoundError):
                    if entry.stat(follow_symlinks=False).st_mtime < before:
                        yield Path(entry.path)


def _unfinished(folder: Path, before: float) -> list[Path]:
    """Folders of downloads that ended in the middle, in which nothing was written since then."""
    parts = [path for path in folder.glob(".*.part") if path.is_dir() and not path.is_symlink()]
    return [path for path in parts if _last_change(path) < before]


def _last_change(folder: Path) -> float:
    times = [0.0]
    for path in (folder, *folder.rglob("*")):
        with suppress(FileNotFoundError):
            times.append(path.lstat().st_mtime)
    return max(times)


def _is_artifact(path: Path) -> bool:
    if path.name.startswith(".part-"):
        return path.stat().st_mtime < time.time() - BEING_WRITTEN_S
    try:
        return Artifacts(path.parent).find(path.name).path == path
    except VrError:
        return False


def _with_room(work: Callable[[], None], files: list[Path]) -> None:
    """Do that; where there is no room for it, in that of some of the files."""
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
