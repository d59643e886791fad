"""Work that runs concurrently, so much at a time, and ends together."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import TypeVar

S = TypeVar("S")
T = TypeVar("T")


async def each_of(items: Sequence[S], at_once: int, work: Callable[[S], Awaitable[T]]) -> list[T]:
    """Do work for each item, `at_once` at a time, and return the results in order.

    They begin in order. The first that raises ends the others, and is raised.
    """
    room = asyncio.Semaphore(at_once)

    async def one(item: S) -> T:
        async with room:
            return await work(item)

    tasks = [asyncio.ensure_future(one(item)) for item in items]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
