"""Equal work of one process is done once, and goes on while anybody waits for it."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Awaitable, Callable, Hashable
from typing import Generic, TypeVar

T = TypeVar("T")


class Joined(Generic[T]):
    """Work under way, by what it makes."""

    def __init__(self) -> None:
        self._tasks: dict[Hashable, asyncio.Task[T]] = {}
        self._waiting: Counter[Hashable] = Counter()

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """What `work` gives, or what equal work gives that is already under way.

        Cancelling one who waits leaves the work to the others; the last one ends it.
        """
        task = self._tasks.get(key)
        if task is None:
            task = self._tasks[key] = asyncio.ensure_future(self._land(key, work))
        self._waiting[key] += 1
        try:
            return await asyncio.shield(task)
        except asyncio.CancelledError:
            if not task.done() and self._waiting[key] == 1:
                self._tasks.pop(key, None)
                task.cancel()
                await asyncio.wait({task})
            raise
        finally:
            self._waiting[key] -= 1

    async def _land(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        try:
            return await work()
        finally:
            if self._tasks.get(key) is asyncio.current_task():
                del self._tasks[key]
