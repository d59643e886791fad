"""Finds artifacts that can be removed: all but those that records need."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path

from vr_kernel.cleanup.finding import BEING_WRITTEN_S, Removable, files_in, size_of, unlink
from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.files.artifact_folder import ArtifactFolder
from vr_kernel.files.artifacts import PART
from vr_kernel.files.pinned import pinned_files
from vr_kernel.state.sqlite.cached_rows import forget_results, named_artifacts
from vr_kernel.state.sqlite.journal.pins_of_file import read_pins

ENOUGH_BYTES = 1 << 18
"""Free bytes that are enough to remove rows."""
BATCH = 1000
"""Artifacts that are removed before it is read again which ones records need."""
NOTE = "Cached results that name them are forgotten as well; records keep their text."
Pinned = Callable[[], dict[Path, set[str]]]
"""Reads the names of pinned artifacts by their folder."""


@dataclass(frozen=True, slots=True)
class _Found:
    """The artifacts of one workspace that can be removed, with their sizes, and parts of some."""

    paths: Paths
    files: dict[str, int] = field(default_factory=dict)
    kept: int = 0
    parts: Sequence[Path] = ()


def find_artifacts(paths: Paths, before: float, owner: str, store: str) -> Removable:
    """Find artifacts of all workspaces, last changed before a time in epoch seconds.

    None are found while it cannot be read which ones records need.

    Args:
        paths: the folders of the installation.
        before: as above.
        owner: the workspace of its owner.
        store: the configured one, which may have what the journal lacks.
    """

    def pinned() -> dict[Path, set[str]]:
        return pinned_files(read_pins(paths, store), paths, owner)

    found, unread = list[_Found](), ""
    known: dict[Path, set[str]] | None = None
    try:
        known = pinned()
    except VrError as error:
        unread = error.told
    for each in (paths, *paths.workspaces()):
        try:
            found.append(_find(each, before, None if known is None else known[each.artifacts]))
        except VrError as error:
            unread = error.told

    def remove() -> None:
        for each in found:
            _remove(each, before, pinned)

    count = sum(len(each.files) + len(each.parts) for each in found)
    size = sum(sum(each.files.values()) + size_of(each.parts) for each in found)
    kept = sum(each.kept for each in found)
    return Removable("artifacts", count, size, NOTE, remove, unread, kept)


def _find(paths: Paths, before: float, pinned: Collection[str] | None) -> _Found:
    unfinished = min(before, time.time() - BEING_WRITTEN_S)
    parts = [it for it in files_in(paths.artifacts, unfinished) if it.name.startswith(PART)]
    if pinned is None:
        return _Found(paths, parts=parts)
    files = asyncio.run(_older(ArtifactFolder(paths.artifacts), before))
    free = {name: size for name, size in files.items() if name not in pinned}
    return _Found(paths, free, len(files) - len(free), parts)


def _remove(found: _Found, before: float, pinned: Pinned) -> None:
    unlink(found.parts)
    folder, results = found.paths.artifacts, found.paths.cache / "results.db"
    named = named_artifacts(results) if found.files else set()
    others = [name for name in found.files if name not in named]
    for start in range(0, len(others), BATCH):
        names = {*others[start : start + BATCH]} - pinned().get(folder, set())
        asyncio.run(_discard(folder, names, before))
    if rest := (found.files.keys() & named) - pinned().get(folder, set()):
        # First: a result must not name a picture that is gone.
        _with_room(partial(forget_results, results, rest), [folder / name for name in rest])
        asyncio.run(_discard(folder, rest, before))


async def _older(store: ArtifactFolder, before: float) -> dict[str, int]:
    """The sizes of artifacts from before a time, by name."""
    return {it.name: it.size async for it in store.list() if it.modified < before}


async def _discard(folder: Path, names: Collection[str], before: float) -> None:
    """Remove artifacts, but those that a call has renewed since, to record that it needs them."""
    store = ArtifactFolder(folder)
    for name in names:
        await store.discard(name, before)


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
    unlink(held)
    try:
        work()
    except VrError:
        for path, content in held.items():
            path.write_bytes(content)
        raise
