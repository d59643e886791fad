"""The event loop of a command, which lasts as long as its work does."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from contextlib import suppress
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel.errors import is_interrupt

if TYPE_CHECKING:
    from vr_kernel.log import Log

T = TypeVar("T")


def run_alone(work: Coroutine[Any, Any, T], log: Log) -> T:
    """What the work gives, in a loop of its own; see `run_on`."""
    runner = asyncio.Runner()
    try:
        return run_on(runner, work, log)
    finally:
        with suppress(SystemExit, KeyboardInterrupt):  # of what is cancelled at the end
            runner.close()


def run_on(runner: asyncio.Runner, work: Coroutine[Any, Any, T], log: Log) -> T:
    """What the work gives, or raises; Ctrl-C cancels it.

    What a task or a callback that a plugin left behind raises to end the program ends that
    alone, and is told in the log.
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
    from vr_kernel.jobs.ledger import settle

    cancellation = await settle(task, pass_on=True)
    if cancellation is not None:
        raise cancellation
    return task.result()
