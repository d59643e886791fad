"""Work that waits for a database transaction, and the loops and threads that wait for the work."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable
from contextlib import suppress
from typing import Any, NamedTuple

from vr_kernel.storage.patience import Wait


class PendingWork(NamedTuple):
    """A piece of work that waits for a transaction, and the loop or thread that waits for it."""

    work: Callable[[sqlite3.Connection], Any]
    begin: str
    wait: Wait
    outcome: Any = None
    loop: asyncio.AbstractEventLoop | None = None
    otherwise: tuple[Any, ...] | None = None


def finish(ends: list[tuple[PendingWork, Any, BaseException | None]]) -> None:
    """Deliver results or errors to the waiting callers; each event loop is woken once."""
    for loop in dict.fromkeys(item.loop for item, _, _ in ends):
        its = [end for end in ends if end[0].loop is loop]
        if loop is None:
            _settle(its)
        else:
            with suppress(RuntimeError):  # the loop is closed, so no one waits there any more
                loop.call_soon_threadsafe(_settle, its)


def _settle(ends: list[tuple[PendingWork, Any, BaseException | None]]) -> None:
    for item, result, error in ends:
        if error is not None and not item.outcome.done():
            item.outcome.set_exception(error)
        elif not item.outcome.done():  # the waiting caller may be gone
            item.outcome.set_result(result)
