"""Our embedded store, through the journal and the kernel's delivery."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Coroutine, Sequence
from pathlib import Path
from typing import Any, TypeVar

import numpy as np  # noqa: TID253 - this module is for a process of its own
from vr_kernel import (
    Embedder,
    Filter,
    Kernel,
    Provider,
    Query,
    RecordField,
    RecordKind,
    hookimpl,
    load_config,
)
from vr_kernel.state import Entry
from vr_plugin_knowledge import plugin as knowledge

from benchmarks.engines.bare import bare_costs
from benchmarks.engines.committing import commit
from benchmarks.engines.driving import TOP, drive, report
from benchmarks.engines.exact import fused_exactly, recall_of
from benchmarks.engines.samples import DIMENSION, Samples, group_of

T = TypeVar("T")
BEAT_S = 0.01
KIND = RecordKind(
    "Rows",
    "Rows of a benchmark.",
    (
        RecordField("text", description="Text", vectorised=True, searchable=True),
        RecordField("group", description="Group", filterable=True),
    ),
    rerank="text",
)


class GivenVectors:
    """Hands out the vectors of the samples: what an embedder costs is not the question here."""

    id = "given"
    dimension = DIMENSION
    accepts = frozenset({"text"})

    def __init__(self) -> None:
        self.by_text: dict[str, Any] = {}

    async def embed(self, items: Sequence[str], purpose: str) -> list[list[float]]:
        """The vector that belongs to each text."""
        del purpose
        return [self.by_text[text].tolist() for text in items]


class Plugin:
    """The kind of the rows and their vectors."""

    def __init__(self) -> None:
        self.vectors = GivenVectors()

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        """Rows."""
        return [KIND]

    @hookimpl
    def vr_providers(self) -> list[Provider[Any]]:
        """The vectors as given."""
        return [Provider(Embedder, "given", lambda _services: self.vectors)]


class Embedded:
    """A kernel with this store, spoken to from plain code."""

    hybrid = True

    def __init__(self, folder: Path) -> None:
        self._loop = asyncio.new_event_loop()
        self.plugin = Plugin()
        self.kernel = open_kernel(folder, self.plugin)

    def wait(self, work: Coroutine[Any, Any, T]) -> T:
        """Run to its end."""
        return self._loop.run_until_complete(work)

    def close(self) -> None:
        """Close the kernel."""
        self.wait(self.kernel.aclose())
        self._loop.close()

    def add(self, samples: Samples, first: int, count: int, *, singly: bool) -> None:
        """Commit rows to the journal, and wait until text and vectors are in the store."""
        rows = range(first, first + count)
        pairs = [(samples.texts[row], samples.vectors[row]) for row in rows]
        self.plugin.vectors.by_text.update(pairs)
        entries = [entry(samples, row) for row in rows]
        self.wait(self._commit([[one] for one in entries] if singly else [entries]))

    async def _commit(self, commits: list[list[Entry]]) -> None:
        for entries in commits:
            await commit(self.kernel, entries)
        await self.kernel.services.store.catch_up(600)
        while await self.kernel.services.store.pending_vectors():  # noqa: ASYNC110 - it says so only when asked
            await asyncio.sleep(0.002)

    def vector(self, vector: Any, group: str | None) -> list[int]:
        """The nearest rows."""
        filters = (Filter("group", "=", group),) if group else ()
        query = Query(
            "", tuple(vector.tolist()), "semantic", kinds=("Rows",), filters=filters, limit=TOP
        )
        return self._ask(query)

    def both(self, text: str, vector: Any) -> list[int]:
        """Words and vectors fused."""
        vector = tuple(vector.tolist())
        return self._ask(Query(text, vector, "hybrid", kinds=("Rows",), limit=TOP))

    def _ask(self, query: Query) -> list[int]:
        hits = self.wait(self.kernel.services.store.search(query))
        return [int(hit.record.key) for hit in hits]


def entry(samples: Samples, row: int) -> Entry:
    """A row on its way into the journal."""
    return Entry("Rows", str(row), {"text": samples.texts[row], "group": group_of(row)})


def open_kernel(folder: Path, plugin: Plugin, *, backend: str = "embedded") -> Kernel:
    """A kernel of its own folder, with the knowledge plugin and the rows' kind."""
    homes = {f"VR_{name}_DIR": str(folder / name.lower()) for name in ("STATE", "CACHE", "CONFIG")}
    settings = {**homes, "VR_STORE__EMBEDDER": "given", "VR_STORE__BACKEND": backend}
    config = load_config(settings, working_folder=folder)
    return Kernel(config, {"knowledge": knowledge, "rows": plugin})


def run(folder: Path, size: int, rounds: int) -> dict[str, Any]:
    """Run the trials of every engine, start anew, and check the answers."""
    engine = Embedded(folder)
    found = drive(engine, size, rounds)
    engine.close()
    again = Embedded(folder)
    found |= again.wait(_first_search(again, Samples(size).vectors[0]))
    again.close()
    (file,) = folder.rglob("knowledge.db")
    found["recall"] = _recall(file, size, rounds, found.pop("hybrid"))
    return found | bare_costs(file, size, rounds)


async def _first_search(engine: Embedded, vector: Any) -> dict[str, float]:
    """Seconds and MB of the first search of a process, and how long the loop stood still."""
    await engine.kernel.services.store.status()
    idle, worst, done = _resident_mb(), 0.0, False

    async def beat() -> None:
        nonlocal worst
        while not done:
            before = time.perf_counter()
            await asyncio.sleep(BEAT_S)
            worst = max(worst, time.perf_counter() - before - BEAT_S)

    heart = asyncio.create_task(beat())
    started = time.perf_counter()
    words = " ".join(KIND.description.split())
    await engine.kernel.services.store.search(Query(words, tuple(vector.tolist()), "hybrid"))
    seconds, done = time.perf_counter() - started, True
    await heart
    more = _resident_mb() - idle
    return {"first_s": seconds, "stall_ms": 1000 * worst, "memory_mb": more}


def _recall(file: Path, size: int, rounds: int, answers: list[list[int]]) -> float:
    exact = fused_exactly(file, size, rounds)
    shares = [recall_of(answer, truth) for answer, truth in zip(answers, exact, strict=True)]
    return float(np.mean(shares))


def _resident_mb() -> float:
    status = Path("/proc/self/status").read_text("utf-8")
    line = next(line for line in status.splitlines() if line.startswith("VmRSS"))
    return int(line.split()[1]) / 1024


if __name__ == "__main__":
    report(run)
