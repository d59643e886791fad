"""The beginning of a conversation: the video itself, or its pictures and its words."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import partial

from vr_kernel import Media, ModelInfo, Part

from vr_plugin_video.analyses.described_video import WINDOW, describe
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.vision_models import ask_in_turn, watches
from vr_plugin_video.sessions.video import media_of
from vr_plugin_video.task import VideoTask

TURNS_SHARE = 0.2
"""Part of a window that earlier turns may fill; a video fills `SHARE` of it."""


@dataclass(frozen=True, slots=True)
class Opening:
    """The video as models get it at the beginning of each request of a session.

    Args:
        parts: the video, or its pictures and words.
        media: the video, where a model watches it.
        model: the only one to ask; those of the role when empty.
        limits: remarks on what the model does not get.
        room: tokens that earlier turns may have; None where the service itself refuses too many.
    """

    parts: Sequence[Part | str]
    media: Media | None = None
    model: str = ""
    limits: Sequence[str] = ()
    room: int | None = None


async def opening_of(task: VideoTask, duration: float) -> Opening:
    """Open with the video itself when a model watches it, else with its pictures and words.

    Args:
        task: about the whole video.
        duration: of the video in seconds; 0 when it is not known.

    Raises:
        VrError: as `media_of`; as `ask_in_turn` and `describe`, when no model watches.
    """
    if watches(task):
        return await watched(task, duration)
    return await ask_in_turn(task, None, partial(described, task))


async def watched(task: VideoTask, duration: float) -> Opening:
    """Open with the video itself.

    Raises:
        VrError: as `media_of`.
    """
    media = await media_of(task.services, task.source, duration)
    return Opening([media], media)


async def described(task: VideoTask, model: ModelInfo) -> Opening:
    """Open with pictures and words for a model.

    Looking and listening happen once: their findings are in the cache for later turns.

    Raises:
        VrError: as `describe`.
    """
    local = task.services.providers.get(LocalEngine)
    found = await describe(local, task, model, local.settings.frames_at_once)
    limits = list(dict.fromkeys([*task.limits, *found.notes]))
    room = int((model.context or WINDOW) * TURNS_SHARE)
    return Opening(found.parts, model=model.name, limits=limits, room=room)
