"""The event loop of a command, which lasts as long as its work does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel.isolation import is_interrupt

from vr_cli.process.exits import hold_to_the_end

if TYPE_CHECKING:
    from vr_kernel import Log

T = TypeVar("T")
CLOSE_S = 1.0
"""Seconds in which the remaining tasks of a command may end."""


def run_alone(work: Coroutine[Any, Any, T], log: Log) -> T:
    """Run a coroutine in an event loop of its own; see `run_on`."""
    runner = asyncio.Runner()
    try:
        return run_on(runner, work, log)
    finally:
        close(runner, log)


def close(runner: asyncio.Runner, log: Log) -> None:
    """Close the loop, if all remaining tasks end within `CLOSE_S` of being cancelled.

    The log names those that do not; a thread keeps them, so that the process can end at once.
    """
    with suppress(SystemExit, KeyboardInterrupt):  # raised by a task that is cancelled at the end
        loop = runner.get_loop()
        left = asyncio.all_tasks(loop)
        for task in left:
            task.cancel()
        if left:
            _, left = loop.run_until_complete(asyncio.wait(left, timeout=CLOSE_S))
        if not left:
            runner.close()
            return
        names = sorted(
            f"{task.get_name()} {getattr(task.get_coro(), '__qualname__', '')}" for task in left
        )
        log.warning("what a plugin began does not end when it is cancelled", tasks=names)
        hold_to_the_end(runner, left)


def run_on(runner: asyncio.Runner, work: Coroutine[Any, Any, T], log: Log) -> T:
    """Run a coroutine, and return or raise its outcome; Ctrl-C cancels it.

    When a task or a callback that a plugin left behind raises SystemExit, only that task ends, and
    the log says so.
    """
    task = runner.get_loop().create_task(work)
    while True:
        try:
            return runner.run(_ended(task))
        except BaseException as error:
            if task.done() or is_interrupt(error):
                raise
            log.exception("what a plugin left behind would have ended the program")


async def _ended(task: asyncio.Task[T]) -> T:
    from vr_kernel.jobs import settle

    cancellation = await settle(task, pass_on=True)
    if cancellation is not None:
        raise cancellation
    return task.result()
