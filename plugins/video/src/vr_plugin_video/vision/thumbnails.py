"""Pictures of scenes in cached results, found by their address, wherever the state folder is."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from vr_kernel import Services, VrError

from vr_plugin_video.models import Scene
from vr_plugin_video.vision.slides import Slide

S = TypeVar("S", Scene, Slide)


def path_of(services: Services, uri: str) -> str | None:
    """The path of the artifact with that address; None when it was deleted since; blocks."""
    try:
        return str(services.artifacts.find(uri.rpartition("/")[2]).path)
    except VrError:
        return None


def with_current_paths(services: Services, scenes: Sequence[S]) -> list[S] | None:
    """The scenes with the current paths of their pictures; None when one is gone; blocks."""
    found: list[S] = []
    for scene in scenes:
        path = path_of(services, scene.thumbnail_uri) if scene.thumbnail_uri else ""
        if path is None:
            return None
        found.append(scene.model_copy(update={"thumbnail_path": path}))
    return found
