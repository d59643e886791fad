"""Progress of one call: reported from any thread, relayed with a heartbeat."""

from __future__ import annotations

import asyncio
import math
from collections.abc import Awaitable, Callable
from contextlib import suppress

from vr_kernel.text.bounds import bounded

Send = Callable[[float, float | None, str], Awaitable[None]]
Report = Callable[[float, float | None, str], None]
"""Called with the progress of work: done, total when it is known, and a message."""
HEARTBEAT_S = 10.0
"""Longest silence towards a client in seconds; clients give up on a silent call after about 60."""
TURNS = 8
"""Turns of the event loop in which the last report is sent to a client that accepts it."""


def silent(_done: float, _total: float | None, _message: str) -> None:
    """Discard a report."""


class Progress:
    """The newest report of a call. A slow client misses reports, but never slows the work.

    Args:
        heartbeat_s: longest silence, in seconds.
    """

    def __init__(self, heartbeat_s: float = HEARTBEAT_S) -> None:
        self._heartbeat_s = heartbeat_s
        self._loop = asyncio.get_running_loop()
        self._news = asyncio.Event()
        self._latest: tuple[float, float | None, str] = (0.0, None, "")
        self._passed: tuple[float, float | None, str] = self._latest

    def report(self, done: float, total: float | None = None, message: str = "") -> None:
        """Take a report; safe from any thread."""
        self._latest = (float(done), None if total is None else float(total), bounded(message))
        with suppress(RuntimeError):  # the loop is closed: no one listens any more
            self._loop.call_soon_threadsafe(self._news.set)

    async def pass_on(self) -> None:
        """Let the last report be sent before the answer, if that takes only a few turns."""
        for _ in range(TURNS):
            if self._passed is self._latest:
                break
            await asyncio.sleep(0)

    async def relay(self, send: Send) -> None:
        """Pass reports on until cancelled, the last one again when there is nothing new."""
        sent = -math.inf
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(self._heartbeat_s):
                    await self._news.wait()
            self._news.clear()
            latest = self._latest
            done, total, message = latest
            # The protocol wants rising numbers; a heartbeat moves by too little to see.
            sent = max(done, math.nextafter(sent, math.inf))
            await send(sent, total, message)
            self._passed = latest
