"""Equal work within one process is done once, and continues while any caller waits for it."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Hashable
from dataclasses import dataclass
from typing import Generic, TypeVar

from vr_kernel.isolation.plugin_code import PluginCode

T = TypeVar("T")


class Joined(Generic[T]):
    """Running work by key: `await joined.run(key, work)`.

    Nothing is remembered: finished work is done again when it is requested again. For results that
    are kept, and for work across processes, see `Call.once`.
    """

    def __init__(self) -> None:
        self._under_way: dict[Hashable, _Shared[T]] = {}

    def __contains__(self, key: Hashable) -> bool:
        """Return True while such work is running, so that `run` would join it."""
        return key in self._under_way

    async def run(self, key: Hashable, work: Callable[[], Awaitable[T]]) -> T:
        """Return the result of `work`, or of equal work that is already running.

        The work runs in a task of its own. It goes on when one waiting caller is cancelled, and is
        cancelled with the last one. So it may outlive the caller that started it, and must not use
        anything that this caller closes. Its exceptions are raised for all waiting callers.
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
                self._land(key, shared)  # a new caller starts over
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
            shared.task.exception()  # mark as retrieved: no caller may be left


@dataclass(slots=True, eq=False)
class _Shared(Generic[T]):
    """One piece of work, and the number of callers that wait for it."""

    task: asyncio.Future[T]
    waiting: int = 0
