"""Artifacts that no cleaning takes, since a record needs them, folder by folder."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.state.pins import Pin
from vr_kernel.storage.sound_rows import is_text


def pinned_files(pins: Iterable[Pin], paths: Paths, owner: str) -> dict[Path, set[str]]:
    """The names of the pinned artifacts of each folder of artifacts.

    A workspace other than the owner's has a folder of its own. Once it may have been the owner's,
    so the owner's folder keeps what such a folder lacks; a damaged name of a workspace means all.

    Args:
        pins: of all workspaces.
        paths: the folders of the installation.
        owner: the workspace of its owner.
    """
    own = {each.state.name: each.artifacts for each in paths.workspaces()}
    shared: set[str] = set()
    found = {paths.artifacts: shared, **{folder: set[str]() for folder in own.values()}}
    for workspace, name in pins:
        folder = own.get(workspace)
        places = [found[folder]] if folder else []
        if not is_text(workspace):
            places = [*found.values()]
        elif workspace == owner or folder is None or not (folder / name).is_file():
            places = [*places, shared]
        for names in places:
            names.add(name)
    return found
