"""Work that is awaited to its end, however often its caller is cancelled meanwhile."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import Any, TypeVar

from vr_kernel.isolation.plugin_code import PluginCode

T = TypeVar("T")


async def complete(work: Coroutine[Any, Any, T]) -> T:
    """Await `work` to its end even when cancelled meanwhile; the cancellation follows then."""
    task = asyncio.ensure_future(PluginCode.ended(work))
    cancellation = await settle(task)
    work.close()  # a closing loop cancels the task, maybe before the work has begun
    if cancellation is not None:
        raise cancellation
    return task.result()


async def settle(
    task: asyncio.Future[Any], *, pass_on: bool = False
) -> asyncio.CancelledError | None:
    """Wait until `task` is done, however often the caller is cancelled meanwhile.

    Returns the first of these cancellations, for the caller to raise; with `pass_on` each one also
    cancels the task.
    """
    first: asyncio.CancelledError | None = None
    while not task.done():
        try:
            await asyncio.wait({task})
        except asyncio.CancelledError as error:
            first = first or error
            if pass_on:
                task.cancel()
    if first is not None and not task.cancelled():
        task.exception()  # marks an exception as retrieved: the cancellation is raised instead
    return first
