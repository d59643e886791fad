"""Signals: hints that something has changed, so that who waits for it looks at once."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from typing import Protocol


class Signals(Protocol):
    """Hints between all that share a state; one may get lost, so who waits looks in between."""

    def send(self, name: str) -> None:
        """Wake all that wait for that name; safe from any thread."""

    async def wait(self, name: str, seconds: float) -> bool:
        """Wait for a signal of that name, that long at most; True when one came."""


class LocalSignals:
    """Signals within one process; see `Signals`."""

    def __init__(self) -> None:
        self._waiting: dict[str, set[asyncio.Future[None]]] = {}

    def send(self, name: str) -> None:
        """Wake all that wait for that name; safe from any thread."""
        for future in self._waiting.pop(name, ()):
            with suppress(RuntimeError):  # its loop is closed, so no one waits there any more
                future.get_loop().call_soon_threadsafe(_wake, future)

    async def wait(self, name: str, seconds: float) -> bool:
        """Wait for a signal of that name, that long at most; True when one came."""
        future = asyncio.get_running_loop().create_future()
        self._waiting.setdefault(name, set()).add(future)
        try:
            await asyncio.wait_for(future, seconds)
        except TimeoutError:
            return False
        finally:
            waiting = self._waiting.get(name)
            if waiting is not None:
                waiting.discard(future)
                if not waiting:
                    self._waiting.pop(name, None)
        return True


def _wake(future: asyncio.Future[None]) -> None:
    if not future.done():
        future.set_result(None)
