"""Equal work of one process is done once, and goes on while anybody waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from vr_kernel.isolation.plugin_code import PluginCode

T = TypeVar("T")


class Joined(Generic[T]):
    """Work under way, by what it makes: `await joined.run(key, work)`.

    Nothing is remembered: what has ended is done again when it is asked for again. For results
    that are kept, and for work of several processes, see `Call.once`.
    """

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Shared[T]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Return True while such work is under way, so that `run` would join it."""
        return key in self._under_way

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """Return what `work` gives, or what equal work gives that is already under way.

        The work is a task of its own. Cancelling one who waits leaves it to the others; the
        last one ends it. So it may outlive the caller who brought it, and may use nothing that
        this caller closes. What it raises is raised for all who wait.
        """
        shared = self._under_way.get(key)
        if shared is None:
            shared = self._under_way[key] = _Shared(asyncio.ensure_future(PluginCode.ended(work())))
            shared.task.add_done_callback(lambda _: self._land(key, shared))
        shared.waiting += 1
        try:
            await asyncio.wait({shared.task})
        except asyncio.CancelledError:
            if shared.waiting == 1:
                self._land(key, shared)  # who comes now begins anew
                shared.task.cancel()
                await asyncio.wait({shared.task})
            raise
        finally:
            shared.waiting -= 1
        return shared.task.result()

    def _land(self, key: Hashable, shared: _Shared[T]) -> None:
        if self._under_way.get(key) is shared:
            del self._under_way[key]
        if shared.task.done() and not shared.task.cancelled():
            shared.task.exception()  # nobody may be left to see it


@dataclass(slots=True, eq=False)
class _Shared(Generic[T]):
    """One piece of work, and how many wait for it."""

    task: asyncio.Future[T]
    waiting: int = 0
