"""Equal work that several calls ask for at the same time is done once."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import replace
from typing import Generic, TypeVar

from vr_kernel import Joined

from vr_plugin_video.sources import reopened
from vr_plugin_video.task import VideoTask
from vr_plugin_video.work import Report, StoppedError

T = TypeVar("T")


class Shared(Generic[T]):
    """The work of one kind that is under way; it goes on while any call waits for it."""

    def __init__(self) -> None:
        self._joined: Joined[T] = Joined()
        self._reports: dict[str, list[Report]] = {}

    async def run(
        self,
        key: str,
        task: VideoTask,
        lead: Callable[[VideoTask, Report], Awaitable[T]],
        report: Report,
    ) -> tuple[T, bool]:
        """What `lead` makes of the task of the first call with that key, and whether it was ours.

        It is handed a task of its own, which no caller stops or closes, and a report that reaches
        all who wait.

        Raises:
            VrError: what `lead` and `reopened` raise, for everybody who waited.
        """
        led = False
        key = f"{task.services.workspace}/{key}"

        async def work() -> T:
            nonlocal led
            led = True
            async with reopened(task.services, task.source) as source:
                own = replace(task, source=source, work=task.work.apart())
                return await lead(own, own.work.stoppable(tell))

        def tell(share: float, message: str) -> None:
            for each in tuple(self._reports.get(key, ())):
                with suppress(StoppedError):  # who has left is not in the way of the others
                    each(share, message)

        if key in self._joined:
            report(0.0, "Waiting for an equal call that is under way")
        reports = self._reports.setdefault(key, [])
        reports.append(report)
        try:
            return await self._joined.run(key, work), led
        finally:
            reports.remove(report)
            if not reports:
                self._reports.pop(key, None)
