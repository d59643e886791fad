"""Ten thousand records while the store is away, and their delivery when it is back.

`FOLDER write COUNT` commits them beside a store that is away; `FOLDER deliver COUNT` delivers
what is missing and prints how far the store is, until it is killed or done.
"""

from __future__ import annotations

import asyncio
import json
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from vr_kernel import Change, Code, Provider, RecordKind, Store, VrError, hookimpl

from benchmarks.engines.committing import commit
from benchmarks.engines.driving import RESULT
from benchmarks.engines.embedded import Plugin, entry, open_kernel
from benchmarks.engines.samples import Samples

LOOK_S = 0.02


class Away:
    """A store that is away: it takes nothing."""

    name = "away"

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        """Fail as a server does that is not there."""
        del kinds
        raise VrError("The store is away.", Code.UNAVAILABLE, retryable=True)

    async def cursor(self) -> int:
        """Nothing was taken."""
        return 0

    async def apply(self, changes: Sequence[Change]) -> None:
        """Fail as `open` does."""
        del changes
        await self.open([])

    async def aclose(self) -> None:
        """Nothing is open."""


class AwayPlugin(Plugin):
    """The rows' kind beside a store that is away."""

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """The vectors as given, and the store that is away."""
        return [*super().vr_providers(), Provider(Store, "away", lambda _services: Away())]


async def write(folder: Path, samples: Samples) -> dict[str, float]:
    """Commit every row; each commit is acknowledged though nothing takes it."""
    kernel = open_kernel(folder, AwayPlugin(), backend="away")
    started = time.perf_counter()
    for row in range(samples.count):
        await commit(kernel, [entry(samples, row)])
    seconds = time.perf_counter() - started
    await kernel.aclose()
    return {"rows_s": samples.count / seconds}


async def deliver(folder: Path, samples: Samples) -> dict[str, Any]:
    """Deliver, with vectors; say how many rows are there in the end, and under how many keys."""
    plugin = Plugin()
    plugin.vectors.by_text = dict(zip(samples.texts, samples.vectors, strict=True))
    kernel = open_kernel(folder, plugin)
    started = time.perf_counter()
    waiting = asyncio.create_task(kernel.services.store.catch_up(600))
    status = await kernel.services.store.status()
    while not waiting.done() or status.pending_vectors:
        print(status.delivered, flush=True)
        await asyncio.sleep(LOOK_S)
        status = await kernel.services.store.status()
    seconds = time.perf_counter() - started
    counted = (await kernel.services.store.count("Rows", "default"))[""]
    keys = [str(row) for row in range(samples.count)]
    there = [await kernel.services.store.get("Rows", key, "default") for key in keys]
    await kernel.aclose()
    lost = sum(record is None for record in there)
    return {"seconds": seconds, "lost": lost, "twice": counted - (samples.count - lost)}


if __name__ == "__main__":
    name, made = sys.argv[2], Samples(int(sys.argv[3]))
    work = {"write": write, "deliver": deliver}[name]
    print(RESULT + json.dumps(asyncio.run(work(Path(sys.argv[1]), made))))
