"""The size to which a server keeps artifacts: the oldest go, but none that a record needs."""

from __future__ import annotations

import asyncio
import time
from functools import partial
from operator import attrgetter
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.errors import VrError
from vr_kernel.files.artifact_folder import ArtifactFolder
from vr_kernel.files.pinned import pinned_files
from vr_kernel.log import Log
from vr_kernel.state.artifacts import StoredArtifact
from vr_kernel.state.protocols import State

BYTES_PER_MB = 1_000_000
YOUNG_S = 3600.0
"""Seconds for which an artifact is kept whatever its size: a running call may need it."""
BATCH = 500
"""Artifacts that are removed before it is asked again which ones records need."""


class ArtifactLimit:
    """Keeps the artifacts of each workspace below a size.

    A record that needs an artifact may be committed by another process meanwhile. Its call makes
    the file count as new just before, so a file is looked at once more before it is removed.

    Args:
        paths: the folders of the installation.
        owner: the workspace of its owner.
        state: has the records, and the results that name artifacts.
        most_mb: for each workspace.
        log: gets what cannot be done.
    """

    def __init__(self, paths: Paths, owner: str, state: State, most_mb: float, log: Log) -> None:
        self._paths, self._owner = paths, owner
        self._state, self._log = state, log
        self._most = most_mb * BYTES_PER_MB
        self._told: set[Path] = set()
        self._pinned: dict[Path, set[str]] = {}
        self._pinned_at = -1

    async def keep(self) -> None:
        """Remove what is too much; what fails is logged."""
        self._pinned_at = -1
        others = {each.state.name: each.artifacts for each in self._paths.workspaces()}
        for workspace, folder in {"": self._paths.artifacts, **others}.items():
            try:
                await self._shrink(workspace, ArtifactFolder(folder))
            except VrError as error:
                told = {"reason": error.message, "hint": error.hint}
                self._log.warning("artifacts are not limited", folder=str(folder), **told)

    async def _shrink(self, workspace: str, store: ArtifactFolder) -> None:
        found = [each async for each in store.list()]
        over = sum(each.size for each in found) - self._most
        oldest = sorted(found, key=attrgetter("modified"), reverse=True)
        while over > 0 and oldest:
            batch = [oldest.pop() for _ in range(min(BATCH, len(oldest)))]
            over -= await self._remove(workspace, store, batch, over)
        if over > 0 and store.folder not in self._told:
            self._told.add(store.folder)
            self._log.warning(
                "artifacts take more room than artifacts_mb: records or running calls need them",
                folder=str(store.folder),
                mb=round((over + self._most) / BYTES_PER_MB),
            )

    async def _remove(
        self, workspace: str, store: ArtifactFolder, batch: list[StoredArtifact], over: float
    ) -> int:
        """Remove as many of these as are too much, from the first on; returns their bytes."""
        pinned, young = await self._needed(store.folder), time.time() - YOUNG_S
        chosen: list[StoredArtifact] = []
        for each in batch:
            if over > 0 and each.name not in pinned and each.modified < young:
                chosen.append(each)
                over -= each.size
        if chosen:  # First: a result must not name an artifact that is gone.
            await self._forget(workspace, {each.name for each in chosen})
        return sum([each.size for each in chosen if await store.discard(each.name, young)])

    async def _needed(self, folder: Path) -> set[str]:
        """The names of the artifacts of a folder that records need now.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be read, or lacks what it had.
        """
        journal = self._state.journal
        last = await journal.last_seq()
        if last != self._pinned_at:
            pins = await journal.pins()
            of_folder = partial(pinned_files, pins, self._paths, self._owner)
            self._pinned, self._pinned_at = await asyncio.to_thread(of_folder), last
        if journal.continuity.refusal is not None:
            raise journal.continuity.refusal
        return self._pinned.get(folder, set())

    async def _forget(self, workspace: str, names: set[str]) -> None:
        table = self._state.cache(workspace)
        if table.path is None or table.path.exists():
            await table.forget_naming(names)
