"""An event loop whose clock jumps: where a real one would wait, this one is there at once."""

from __future__ import annotations

import asyncio
import selectors
from collections.abc import Coroutine
from typing import Any, TypeVar

T = TypeVar("T")


class _Jump(selectors.DefaultSelector):
    """Waits for nothing, and remembers how long it should have."""

    def __init__(self) -> None:
        super().__init__()
        self.now = 0.0

    def select(self, timeout: float | None = None) -> list[Any]:
        assert timeout is not None, "everything waits for what never comes"
        self.now += max(0.0, timeout)
        events: list[Any] = super().select(0)
        return events


class VirtualLoop(asyncio.SelectorEventLoop):
    """Starts at 0 s; only for code that waits for timers alone, not for threads or sockets."""

    def __init__(self) -> None:
        self._jump = _Jump()
        super().__init__(self._jump)

    def time(self) -> float:
        """Seconds since the loop began."""
        return self._jump.now


def run_virtually(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine in virtual time."""
    with asyncio.Runner(loop_factory=VirtualLoop) as runner:
        return runner.run(work)
