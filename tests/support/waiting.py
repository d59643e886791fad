"""Waiting for what happens by itself, never longer than a bound."""

from __future__ import annotations

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import Any

PAUSE_S = 0.01
LONGEST_S = 30.0


async def until(condition: Callable[[], Any | Awaitable[Any]], within: float = LONGEST_S) -> Any:
    """The first true answer of a condition, which may be async."""
    end = time.monotonic() + within
    while time.monotonic() < end:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return answer
        await asyncio.sleep(PAUSE_S)
    raise AssertionError(f"not within {within} s")


async def always(condition: Callable[[], Any | Awaitable[Any]], during: float) -> None:
    """Assert that a condition, which may be async, holds for that many seconds."""
    end = time.monotonic() + during
    while time.monotonic() < end:
        answer = condition()
        assert await answer if inspect.isawaitable(answer) else answer
        await asyncio.sleep(PAUSE_S)
