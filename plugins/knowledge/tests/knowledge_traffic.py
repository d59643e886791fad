"""One of two processes on one installation: `python knowledge_traffic.py NAME FOLDER COUNT`.

It does so many operations in random order, each checked, prints what of its records is there,
reads what the other process says of its own, and prints how many of those it does not see.
"""

from __future__ import annotations

import asyncio
import json
import random
import sys
from pathlib import Path

from knowledge_samples import WORDS, all_plugins
from vr_kernel import Kernel, Query, load_config
from vr_kernel.state import Entry

CHECK_EVERY = 20


class Traffic:
    """Records of one process, and what is to be found of them."""

    def __init__(self, name: str, kernel: Kernel) -> None:
        self._name = name
        self._kernel = kernel
        self._chance = random.Random(name)
        self.live: dict[str, str] = {}

    async def operate(self, number: int) -> None:
        """One write, or one look at what was written before."""
        known = list(self.live)
        choice = self._chance.random()
        if choice < 0.5 or not known:
            await self._write(f"{self._name}{number}", number)
        elif choice < 0.6:
            await self._write(self._chance.choice(known), number)
        elif choice < 0.65:
            await self._delete(self._chance.choice(known))
        else:
            await self._look(self._chance.choice(known), search=number % CHECK_EVERY == 0)

    async def _write(self, key: str, number: int) -> None:
        words = " ".join(self._chance.choices(WORDS, k=6))
        self.live[key] = f"{words} {self._name}x{number}"
        await self._commit(Entry("Notes", key, {"text": self.live[key], "video_id": self._name}))

    async def _delete(self, key: str) -> None:
        del self.live[key]
        await self._commit(Entry("Notes", key, None))

    async def _commit(self, entry: Entry) -> None:
        seq = await self._kernel.services.journal.commit(
            [entry], workspace="default", provenance={}
        )
        self._kernel.services.store.wake(seq)

    async def _look(self, key: str, *, search: bool) -> None:
        store = self._kernel.services.store
        assert await store.catch_up(60) == 0
        record = await store.get("Notes", key, "default")
        assert record is not None
        assert record.fields["text"] == self.live[key]
        if search:
            hits = await store.search(Query(self.live[key].split()[-1], mode="keyword"))
            assert key in {hit.record.key for hit in hits}

    async def unseen(self, others: dict[str, str]) -> int:
        """Count the records of the other process that are not here as it has them."""
        store = self._kernel.services.store
        assert await store.catch_up(60) == 0
        counts = await store.count("Notes", "default", "video_id")
        missing = abs(sum(counts.values()) - len(self.live) - len(others))
        for key, text in {**self.live, **others}.items():
            record = await store.get("Notes", key, "default")
            missing += record is None or record.fields["text"] != text
        return missing


async def work(name: str, folder: Path, count: int) -> None:
    """Operate, tell, hear, compare."""
    homes = {f"VR_{part}_DIR": str(folder / part) for part in ("STATE", "CACHE", "CONFIG")}
    config = load_config({**homes, "VR_STORE__EMBEDDER": "words"}, working_folder=folder)
    async with Kernel.open(config, all_plugins()) as kernel:
        traffic = Traffic(name, kernel)
        for number in range(count):
            await traffic.operate(number)
        print(json.dumps(traffic.live), flush=True)  # noqa: T201 - read by the test
        others = json.loads(await asyncio.to_thread(sys.stdin.readline))
        print(await traffic.unseen(others), flush=True)  # noqa: T201 - read by the test


if __name__ == "__main__":
    asyncio.run(work(sys.argv[1], Path(sys.argv[2]), int(sys.argv[3])))
