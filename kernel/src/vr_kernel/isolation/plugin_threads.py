"""Threads for each plugin, so that a plugin that blocks its own delays no other."""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from types import FrameType
from typing import Any

from vr_kernel.isolation.loop_watch import Owners
from vr_kernel.isolation.plugin_code import MODULES
from vr_kernel.log import Log

MOST = min(32, (os.cpu_count() or 1) + 4)
"""Threads per plugin, and for all other code; as many as asyncio gives a program."""
LIMIT_S = 1.0
"""Seconds without a free thread after which that is logged."""


class PluginThreads(ThreadPoolExecutor):
    """The default executor of a server's loop, which `asyncio.to_thread` uses.

    Work belongs to the plugin whose code submits it; to the innermost, where there are several.

    Args:
        owners: of code.
        log: gets the name of a plugin that needs more threads than it has.
        clock: a monotonic clock, in seconds.
    """

    def __init__(
        self, owners: Owners, log: Log, clock: Callable[[], float] = time.monotonic
    ) -> None:
        super().__init__(MOST, thread_name_prefix="vr-threads")
        self._owners = owners
        self._log = log
        self._clock = clock
        self._of_plugins: dict[str, _Threads] = {}

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Hand work in."""
        plugin = self._plugin(sys._getframe(1))  # noqa: SLF001 - the way to the caller's code
        if not plugin:
            return super().submit(work, *given, **named)
        if (threads := self._of_plugins.get(plugin)) is None:
            threads = self._of_plugins[plugin] = _Threads(plugin, self._log, self._clock)
        return threads.submit(work, *given, **named)

    def shutdown(self, wait: bool = True, *, cancel_futures: bool = False) -> None:
        """Accept no more work; the threads end with the program."""
        for threads in self._of_plugins.values():
            threads.shutdown(wait, cancel_futures=cancel_futures)
        super().shutdown(wait, cancel_futures=cancel_futures)

    def _plugin(self, frame: FrameType | None) -> str:
        if (of_plugin := self._owners.innermost(frame)) is not None:
            return self._owners.owner(of_plugin)
        # In a separate task, as `asyncio.gather` makes one, only the context knows who made it.
        owners = (self._owners.of_module(module) for module in reversed(MODULES.get()))
        return next(filter(None, owners), "")


class _Threads(ThreadPoolExecutor):
    """The threads of one plugin."""

    def __init__(self, plugin: str, log: Log, clock: Callable[[], float]) -> None:
        super().__init__(MOST, thread_name_prefix=f"vr-{plugin}")
        self._plugin = plugin
        self._log = log
        self._clock = clock
        self._under_way: set[Future[Any]] = set()
        self._free_at = clock()
        self._told = False

    def submit(self, work: Callable[..., Any], /, *given: Any, **named: Any) -> Future[Any]:
        """Hand work in."""
        if len(self._under_way) < MOST:
            self._free_at = self._clock()
        elif not self._told and self._clock() - self._free_at >= LIMIT_S:
            self._told = True
            self._log.warning(
                "a plugin's threads are all blocked, its own work waits for them",
                plugin=self._plugin,
                threads=MOST,
            )
        future = super().submit(work, *given, **named)
        self._under_way.add(future)
        future.add_done_callback(self._end)
        return future

    def _end(self, future: Future[Any]) -> None:
        self._under_way.discard(future)
        self._free_at, self._told = self._clock(), False
