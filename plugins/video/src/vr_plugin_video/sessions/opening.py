"""The beginning of a conversation: the video itself, or its pictures and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Media, ModelInfo, Part, VrError

from vr_plugin_video.analyses.described_video import describe
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.model_analyst import described_for, other_model, watches
from vr_plugin_video.sessions.video import media_of
from vr_plugin_video.task import VideoTask


@dataclass(frozen=True, slots=True)
class Opening:
    """The video as models get it at the beginning of each request of a session.

    Args:
        parts: the video, or its pictures and words.
        media: the video, where a model watches it.
        model: the only one to ask; those of the role when empty.
        limits: remarks on what the model does not get.
    """

    parts: Sequence[Part | str]
    media: Media | None = None
    model: str = ""
    limits: Sequence[str] = ()


async def opening_of(task: VideoTask, duration: float) -> Opening:
    """Open with the video itself when a model watches it, else with its pictures and words.

    Looking and listening happen once: their findings are in the cache for later turns.

    Args:
        task: about the whole video.
        duration: of the video in seconds; 0 when it is not known.

    Raises:
        VrError: as `described_for` and `describe`, when no model watches.
    """
    if watches(task):
        media = await media_of(task.services, task.source, duration)
        return Opening([media], media)
    return await _described(task, described_for(task))


async def opening_without_watching(task: VideoTask, error: VrError) -> Opening | None:
    """Open with pictures and words after the models that watch failed; None where none reads.

    Raises:
        VrError: as `describe`.
    """
    other = other_model(task, error)
    return None if other is None else await _described(task, other)


async def _described(task: VideoTask, model: ModelInfo) -> Opening:
    local = task.services.providers.get(LocalEngine)
    found = await describe(local, task, model, local.settings.frames_at_once)
    limits = list(dict.fromkeys([*task.limits, *found.notes]))
    return Opening(found.parts, model=model.name, limits=limits)
