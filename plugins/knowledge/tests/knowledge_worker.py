"""A process of its own on a store's file: `python knowledge_worker.py FILE CHANGES BATCH`.

It applies the scripted changes, prints the cursor after each batch, embeds, prints `done`, and
ends when its input does.
"""

from __future__ import annotations

import asyncio
import sys
from pathlib import Path

from knowledge_samples import (
    CARDS,
    NOTES,
    Ledger,
    WordVectors,
    deliver,
    quiet_log,
    scripted_changes,
)
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore


async def work(path: Path, count: int, batch: int) -> None:
    """Apply, report, embed, wait."""
    store = EmbeddedStore(path, WordVectors(), quiet_log())
    await store.open([NOTES, CARDS])
    ledger = Ledger()
    changes = [ledger.write("Notes", key, fields) for key, fields in scripted_changes(count)]
    for start in range(0, count, batch):
        await store.apply(changes[start : start + batch])
        print(await store.cursor(), flush=True)  # noqa: T201 - read by the test
    await deliver(store, ledger)
    print("done", flush=True)  # noqa: T201 - read by the test
    await asyncio.to_thread(sys.stdin.read)
    await store.aclose()


if __name__ == "__main__":
    asyncio.run(work(Path(sys.argv[1]), int(sys.argv[2]), int(sys.argv[3])))
