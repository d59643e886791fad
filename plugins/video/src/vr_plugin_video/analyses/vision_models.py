"""The models of the role `vision`: those that watch, and those that get pictures and words."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Mapping
from functools import partial
from typing import Any, TypeVar

from vr_kernel import Code, Media, ModelInfo, Role, VrError
from vr_kernel.models import may_others_answer

from vr_plugin_video.task import VideoTask

ROLE: Role = "vision"
WATCHING = ""
"""Stands for the models that watch; the others have names."""
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
    The choice is committed: after a crash the answer that was paid for is not given up for another.

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
    ways: dict[str, Watch[T]] = {} if watch is None else {WATCHING: watch}
    ways |= {info.name: partial(read, info) for info in readers}
    if len(ways) == 1:
        return await next(iter(ways.values()))()
    before, answers = [*task.limits], list[T]()

    async def choose() -> dict[str, Any]:
        failures: dict[str, str] = {}
        for name, ask in ways.items():
            task.limits[:] = [*before, *_told(failures)]
            try:
                answers.append(await ask())
            except VrError as error:
                if len(failures) == len(ways) - 1 or not may_others_answer(error):
                    raise
                failures[name] = error.message
                task.repeatable &= name != WATCHING and error.code is not Code.BUDGET
            else:
                break
        return {"chosen": name, "failures": failures, "repeatable": task.repeatable}

    found = await task.work.call.step("model of a video", choose)
    if answers:
        return answers[0]
    task.limits[:] = [*before, *_told(found["failures"])]
    task.repeatable &= found["repeatable"]
    return await ways.get(found["chosen"], next(iter(ways.values())))()


def _told(failures: Mapping[str, str]) -> Iterator[str]:
    for name, why in failures.items():
        yield f"{'No model watched' if name == WATCHING else f'{name} did not answer'}: {why}"


async def _reading_models(task: VideoTask) -> list[ModelInfo]:
    known = await task.services.models.described(ROLE)
    others = [info for info in known if "video" not in info.accepts and not info.embeds]
    return sorted(others, key=lambda info: "image" not in info.accepts)
