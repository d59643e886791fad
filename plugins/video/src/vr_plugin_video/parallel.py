"""Work that runs concurrently, up to a limit."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

T = TypeVar("T")


async def run_bounded(most: int, works: Sequence[Callable[[], Awaitable[T]]]) -> list[T]:
    """Run all works, at most `most` at a time, and return their results in order.

    They begin in order. The first that raises ends the others, and is raised.
    """
    room = asyncio.Semaphore(most)

    async def run(work: Callable[[], Awaitable[T]]) -> T:
        async with room:
            return await work()

    tasks = [asyncio.ensure_future(run(work)) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
