"""Runs heavy work of one call in worker threads: one at a time, stopped soon after cancellation."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import AsyncIterator, Callable
from contextlib import asynccontextmanager
from contextvars import copy_context
from functools import partial
from typing import ParamSpec, TypeVar

from vr_kernel import Artifact, Call, VrError

P = ParamSpec("P")
T = TypeVar("T")
Percent = tuple[float, float]
"""Start and end of a stage, in percent of the call."""
Report = Callable[[float, str], None]
"""Is called with the share of a stage that is done, 0 to 1, and a message."""


class StoppedError(Exception):
    """Raised in a worker thread whose call was cancelled."""


class Work:
    """The threads of one call. `turns` lets one thread of an engine work at a time."""

    def __init__(self, call: Call, turns: asyncio.Semaphore) -> None:
        self.call = call
        self._turns = turns
        self._stop = threading.Event()
        self._done = 0.0
        self.lost = ""

    def keep(self, content: bytes, mime: str) -> Artifact | None:
        """Save bytes as an artifact; None when the folder cannot be written, see `lost`."""
        try:
            return self.call.artifact(content, mime)
        except VrError as error:
            self.lost = f"Pictures and reports were not kept: {error.message} {error.hint}"
            return None

    def check(self) -> None:
        """Raise `StoppedError` when the call was cancelled; for use inside threads."""
        if self._stop.is_set():
            raise StoppedError

    def stage(self, first: float, last: float) -> Report:
        """Make reports of one stage, which takes the call from `first` to `last` percent."""

        def report(share: float, message: str) -> None:
            self.check()
            done = first + (last - first) * min(1.0, max(0.0, share))
            self._done = max(self._done, done)
            self.call.progress(self._done, 100, message)

        return report

    def of(self, call: Call) -> Work:
        """Return work for another call, with the same `turns`."""
        return Work(call, self._turns)

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[None]:
        """Wait until no other heavy work of this engine runs."""
        async with self._turns:
            yield

    async def run(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Run a blocking function in a thread, in turn; cancelling waits until it has stopped.

        So a file is never closed while a thread reads it.
        """
        async with self._turns:
            return await self.in_thread(function, *args, **kwargs)

    async def in_thread(self, function: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T:
        """Like `run`, without waiting for a turn; for short work."""
        within = partial(copy_context().run, function, *args, **kwargs)
        thread = asyncio.get_running_loop().run_in_executor(None, within)
        try:
            return await asyncio.shield(thread)
        except asyncio.CancelledError:
            self._stop.set()
            await asyncio.wait({thread})
            if not thread.cancelled():
                thread.exception()
            raise
