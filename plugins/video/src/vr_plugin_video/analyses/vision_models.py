"""The models of the role `vision`: those that watch, and those that get pictures and words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from functools import partial
from typing import TypeVar

from vr_kernel import Code, Media, ModelInfo, Role, VrError
from vr_kernel.models import may_others_answer

from vr_plugin_video.task import VideoTask

ROLE: Role = "vision"
T = TypeVar("T")
Watch = Callable[[], Awaitable[T]]
Read = Callable[[ModelInfo], Awaitable[T]]


def watches(task: VideoTask) -> bool:
    """True when a model that is ready takes the video itself."""
    kind = "youtube" if task.source.at_youtube else "video"
    return task.work.call.services.models.ready(ROLE, kind)


async def ask_in_turn(task: VideoTask, watch: Watch[T] | None, read: Read[T]) -> T:
    """Return what the first models give that answer; the limits of the task name those that do not.

    What answers in place of a model that watches, or that a budget refused, is not to be cached.

    Args:
        task: about the video.
        watch: asks those that watch; None where there are none.
        read: asks one that is given pictures and words; those that see pictures come first.

    Raises:
        VrError: AUTH when a key is missing; UNAVAILABLE when no model serves the role; UNSUPPORTED,
            category MEDIA_UNSUPPORTED, when none of them reads or watches; of the last that was
            asked.
    """
    readers = await _reading_models(task)
    if watch is None and not readers:
        task.services.models.require(ROLE, Media("video/mp4"))
    ways: list[tuple[str, Watch[T]]] = [(info.name, partial(read, info)) for info in readers]
    if watch is not None:
        ways.insert(0, ("", watch))
    for name, ask in ways[:-1]:
        before = [*task.limits]
        answer, failure, code = await _tried(task, name, ask)
        if answer is not None:
            return answer
        told = f"{name} did not answer" if name else "No model watched"
        task.limits[:] = [*before, f"{told}: {failure}"]
        if not name or code == Code.BUDGET:
            task.repeatable = False
    return await ways[-1][1]()


async def _reading_models(task: VideoTask) -> list[ModelInfo]:
    known = await task.services.models.described(ROLE)
    others = [info for info in known if "video" not in info.accepts and not info.embeds]
    return sorted(others, key=lambda info: "image" not in info.accepts)


async def _tried(task: VideoTask, name: str, ask: Watch[T]) -> tuple[T | None, str, str]:
    """The answer; else None, why there is none, and the code of that error.

    That there is none is committed: after a crash the next model's answer, which was paid for, is
    not given up for another try.

    Raises:
        VrError: a failure that any other model would have.
    """
    answer: T | None = None

    async def tried() -> dict[str, str]:
        nonlocal answer
        try:
            answer = await ask()
        except VrError as error:
            if not may_others_answer(error):
                raise
            return {"failure": error.message, "code": error.code}
        return {"failure": "", "code": ""}

    outcome = await task.work.call.step(f"asked {name or 'those that watch'}", tried)
    if answer is None and not outcome["failure"]:
        answer = await ask()  # it was asked before a crash, and its answer is committed
    return answer, outcome["failure"], outcome["code"]
