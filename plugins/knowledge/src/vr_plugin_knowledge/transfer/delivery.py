"""Delivers the journal to the store in the foreground, with a progress bar."""

from __future__ import annotations

import asyncio
import sys
import time
from collections.abc import Awaitable, Callable

import click
from vr_kernel import Code, Kernel, VrError

STEP_S = 0.2
PATIENCE_S = 90.0
"""Longest time without progress of a store; more than its longest pause between two tries."""


async def watch(
    label: str, left: Callable[[], Awaitable[int]], patience: float = PATIENCE_S
) -> int:
    """Show on stderr how `left` falls to 0; return it when it did not fall for `patience` s."""
    best, since = await left(), time.monotonic()
    if not best:
        return 0
    with click.progressbar(length=best, label=label, show_pos=True, file=sys.stderr) as bar:
        while now := await left():
            if now < best:
                bar.update(best - now)
                best, since = now, time.monotonic()
            elif time.monotonic() - since > patience:
                return now
        bar.update(best)
    return 0


async def deliver(kernel: Kernel, patience: float = PATIENCE_S) -> int:
    """Deliver the journal to the store in the foreground; return the number of missing vectors.

    Raises:
        VrError: as the store does when it cannot be opened; UNAVAILABLE when it makes no progress.
    """
    store = kernel.services.archive.store
    # Opens the store, so that an unreachable one fails at once.
    await store.status()
    if left := await watch("Records", lambda: store.catch_up(STEP_S), patience):
        await store.status()
        raise VrError(
            f"The store {store.name!r} takes no more; {left:,} changes are left."
            f" {store.trouble}".rstrip(),
            Code.UNAVAILABLE,
            hint="`vr doctor` looks for the cause. The same command goes on where it stopped.",
            retryable=True,
        )

    async def waiting() -> int:
        await asyncio.sleep(STEP_S)
        return await store.pending_vectors()

    if not kernel.services.vectors.available():  # all wait for ever
        return await store.pending_vectors()
    return await watch("Vectors", waiting, patience)
