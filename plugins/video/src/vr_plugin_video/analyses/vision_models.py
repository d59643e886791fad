"""The models of the role `vision`: those that watch, and those that get pictures and words."""

from __future__ import annotations

from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Mapping
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

    With what answers in place of a model that watches, or that a budget refused, the task is not
    repeatable: the next call may do better.
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
    if watch is not None and not _has_readers(task):
        return await watch()
    before, answers = [*task.limits], list[T]()

    async def choose() -> dict[str, Any]:
        failures: dict[str, str] = {}
        last: VrError | None = None
        async for name, ask in _ways(task, watch, read):
            task.limits[:] = [*before, *_told(failures)]
            try:
                answers.append(await ask())
            except VrError as error:
                if not may_others_answer(error):
                    raise
                failures[name], last = error.message, error
                task.repeatable &= name != WATCHING and error.code is not Code.BUDGET
            else:
                return {"chosen": name, "failures": failures, "repeatable": task.repeatable}
        if last is None:
            task.services.models.require(ROLE, Media("video/mp4"))
            raise AssertionError("no model watches, and none reads")
        raise last

    found = await task.work.call.step("model of a video", choose)
    if answers:
        return answers[0]
    task.limits[:] = [*before, *_told(found["failures"])]
    task.repeatable &= found["repeatable"]
    ways = {name: ask async for name, ask in _ways(task, watch, read)}
    if found["chosen"] not in ways:  # its model was configured before the crash, and is not now
        await choose()
        return answers[0]
    return await ways[found["chosen"]]()


async def _ways(
    task: VideoTask, watch: Watch[T] | None, read: Read[T]
) -> AsyncIterator[tuple[str, Watch[T]]]:
    """The ways to ask, in their order; servers describe their models once no other way is left."""
    if watch is not None:
        yield WATCHING, watch
    described = await task.services.models.described(ROLE)
    for info in sorted(filter(_reads, described), key=lambda info: "image" not in info.accepts):
        yield info.name, partial(read, info)


def _has_readers(task: VideoTask) -> bool:
    models = task.services.models
    return any(_reads(models.info(ROLE, model=name)) for name in models.names(ROLE))


def _reads(info: ModelInfo) -> bool:
    return "video" not in info.accepts and not info.embeds


def _told(failures: Mapping[str, str]) -> Iterator[str]:
    for name, why in failures.items():
        yield f"{'No model watched' if name == WATCHING else f'{name} did not answer'}: {why}"
