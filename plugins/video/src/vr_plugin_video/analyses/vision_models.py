"""The models of the role `vision`: those that watch, and those that get pictures and words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

from vr_kernel import Media, ModelInfo, Role, VrError
from vr_kernel.models import may_others_answer

from vr_plugin_video.task import VideoTask

ROLE: Role = "vision"
T = TypeVar("T")


def watches(task: VideoTask) -> bool:
    """True when a model that is ready takes the video itself."""
    kind = "youtube" if task.source.at_youtube else "video"
    return task.work.call.services.models.ready(ROLE, kind)


async def reading_models(task: VideoTask) -> list[ModelInfo]:
    """The models that do not watch, in their order: those that see pictures, then the others.

    Raises:
        VrError: AUTH when a key is missing; UNAVAILABLE when no model serves the role.
    """
    known = await task.work.call.services.models.described(ROLE)
    others = [info for info in known if "video" not in info.accepts and not info.embeds]
    return sorted(others, key=lambda info: "image" not in info.accepts)


async def ask_readers(task: VideoTask, ask: Callable[[ModelInfo], Awaitable[T]]) -> T:
    """Return the answer of the first model that gives one about pictures and words.

    A model that fails is named in the limits of the task.

    Raises:
        VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, when none of the role reads; as
            `reading_models`; the error of the last model.
    """
    models = await reading_models(task)
    if not models:
        task.work.call.services.models.require(ROLE, Media("video/mp4"))
    return await _first_answer(task, models, ask)


async def ask_after_watching(
    task: VideoTask, error: VrError, ask: Callable[[ModelInfo], Awaitable[T]]
) -> T:
    """Return an answer about pictures and words after the models that watch have failed.

    Args:
        task: about the video.
        error: of those that watch; raised where no other model may answer.
        ask: asks a model.

    Raises:
        VrError: `error`, or as `ask_readers`.
    """
    models = await reading_models(task) if may_others_answer(error) else []
    if not models:
        raise error
    task.limits.append(f"No model watched: {error.message}")
    return await _first_answer(task, models, ask)


async def _first_answer(
    task: VideoTask, models: Sequence[ModelInfo], ask: Callable[[ModelInfo], Awaitable[T]]
) -> T:
    for model in models[:-1]:
        try:
            return await ask(model)
        except VrError as error:
            if not may_others_answer(error):
                raise
            task.limits.append(f"{model.name} did not answer: {error.message}")
    return await ask(models[-1])
