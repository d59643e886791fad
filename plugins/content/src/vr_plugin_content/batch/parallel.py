"""Work that runs concurrently, and ends together."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine, Iterable
from typing import Any, TypeVar

T = TypeVar("T")


async def run_together(works: Iterable[Coroutine[Any, Any, T]]) -> list[T]:
    """Run all works, and return their results in order.

    They begin in order. The first that raises ends the others, and is raised.
    """
    tasks = [asyncio.ensure_future(work) for work in works]
    try:
        return list(await asyncio.gather(*tasks))
    finally:
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
