"""What an installation can do without, by kind: found first, removed when told to."""

from __future__ import annotations

import asyncio
import os
import re
import shutil
import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass
from functools import partial
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.files.artifacts import Artifacts
from vr_kernel.jobs.jobs import Jobs
from vr_kernel.jobs.leases import Leases
from vr_kernel.jobs.ledger import open_ledger

BUSY_S = 10.0
BEING_WRITTEN_S = 3600
"""A partly written file that is younger may belong to a running call."""
_NAMED = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,16}")

_USELESS = ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_ERROR")


@dataclass(frozen=True, slots=True)
class Leftovers:
    """What of one kind can be removed: how many things, bytes, and what a user should know.

    `remove` removes them, and raises `OSError`, `sqlite3.Error` or `VrError` when it cannot.
    """

    kind: str
    count: int
    size: int
    note: str
    remove: Callable[[], None]


def find_leftovers(paths: Paths, kind: str, before: float) -> Leftovers:
    """What of a kind, of all workspaces, was last changed before that time, in epoch seconds."""
    if kind not in ("artifacts", "cache"):
        return _KINDS[kind](paths, before)
    found = [_KINDS[kind](each, before) for each in (paths, *paths.workspaces())]

    def remove() -> None:
        for each in found:
            each.remove()

    count, size = sum(each.count for each in found), sum(each.size for each in found)
    return Leftovers(kind, count, size, found[0].note, remove)


def _artifacts(paths: Paths, before: float) -> Leftovers:
    files = [path for path in _files(paths.artifacts, before) if _is_artifact(path)]

    def remove() -> None:
        # First: a result must not name a picture that is gone.
        _forget_results(paths.cache / "results.db", {path.name for path in files})
        _unlink(files)

    note = "Cached results that name them are forgotten as well; records keep their text."
    return Leftovers("artifacts", len(files), _size(files), note, remove)


def _cache(paths: Paths, before: float) -> Leftovers:
    results = paths.cache / "results.db"
    count, size = _measured(
        results, "SELECT count(*), total(length(value)) FROM result WHERE cached_at < ?", before
    )
    note = "What is asked again is computed, or paid for, again."
    return Leftovers("cache", count, size, note, partial(_clear_cache, paths.cache, before))


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
    count, size = _measured(ledger, query, before)
    note = "Jobs that have ended, with their results; none that is running or interrupted."
    return Leftovers("jobs", count, size, note, partial(_prune_jobs, ledger, before))


def _damaged(paths: Paths, before: float) -> Leftovers:
    found = [*_files(paths.state, before), *_files(paths.cache, before)]
    # Records may still be rescued from a journal, and from nothing else.
    files = [
        p for p in found if ".damaged-" in p.name and not p.name.startswith(paths.journal.name)
    ]
    note = "Files that could not be read any more and were replaced; never a journal."
    return Leftovers("damaged", len(files), _size(files), note, partial(_unlink, files))


_KINDS: dict[str, Callable[[Paths, float], Leftovers]] = {
    "artifacts": _artifacts,
    "cache": _cache,
    "downloads": _downloads,
    "logs": _logs,
    "jobs": _jobs,
    "damaged": _damaged,
}
KINDS = tuple(_KINDS)
"""All kinds, in the order in which they are removed."""


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


def _measured(path: Path, query: str, before: float) -> tuple[int, int]:
    if not path.exists():
        return 0, 0
    try:
        with closing(_opened(path)) as connection:
            count, size = connection.execute(query, (before,)).fetchone()
    except sqlite3.DatabaseError:
        return 0, 0  # damaged or foreign: the program sets it aside by itself
    return int(count), int(size or 0)


def _clear_cache(folder: Path, before: float) -> None:
    # Row by row, not by file: a running server keeps its files open.
    statements = {
        "results.db": "DELETE FROM result WHERE cached_at < ?",
        "digests.db": "DELETE FROM digest WHERE mtime_ns < ? * 1e9",
    }
    for name, statement in statements.items():
        if (folder / name).exists():
            with _unless_useless(), closing(_opened(folder / name)) as connection:
                connection.execute(statement, (before,))
                connection.execute("VACUUM")
                connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")


def _forget_results(path: Path, names: set[str]) -> None:
    if not path.exists():
        return
    with _unless_useless(), closing(_opened(path)) as connection:
        rows = connection.execute("SELECT key, value FROM result").fetchall()
        stale = [(key,) for key, value in rows if names & set(_NAMED.findall(str(value)))]
        connection.executemany("DELETE FROM result WHERE key = ?", stale)


@contextmanager
def _unless_useless() -> Iterator[None]:
    """Pass over a file that is damaged or foreign: the program replaces it by itself."""
    try:
        yield
    except sqlite3.DatabaseError as error:
        if not str(getattr(error, "sqlite_errorname", "")).startswith(_USELESS):
            raise


def _prune_jobs(ledger: Path, before: float) -> None:
    async def prune() -> None:
        database = open_ledger(ledger)
        leases = Leases(database, lease_s=20)
        try:
            await Jobs(database, leases).prune(time.time() - before)
        finally:
            await leases.aclose()
            database.close()

    if ledger.exists():
        asyncio.run(prune())


def _opened(path: Path) -> sqlite3.Connection:
    address = f"{path.resolve().as_uri()}?mode=rw"
    return sqlite3.connect(address, uri=True, timeout=BUSY_S, isolation_level=None)


def _unlink(files: list[Path]) -> None:
    for path in files:
        path.unlink(missing_ok=True)


def _size(files: list[Path]) -> int:
    return sum(path.stat().st_size for path in files if path.exists())
