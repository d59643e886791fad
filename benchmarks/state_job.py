"""Work of one kernel with its state in a second of processor time, in a process of its own.

`python state_job.py ours|floor ROUNDS` prints the rates as one line of JSON. It needs nothing but
the public names of `vr_kernel`, so that two versions can be compared.
"""

from __future__ import annotations

import asyncio
import json
import sqlite3
import sys
import tempfile
import time
from collections.abc import Awaitable, Callable
from contextlib import aclosing
from pathlib import Path
from types import SimpleNamespace

from pydantic import BaseModel
from vr_kernel import (
    READ_ONLY,
    Call,
    Kernel,
    Record,
    RecordField,
    RecordKind,
    cache_key,
    hookimpl,
    load_config,
    tool,
)

TEXT = "A sentence of the lecture, as it was said in the recording. " * 8
KINDS = ("Notes", "Passages", "Claims", "Pictures")
PUT = "INSERT INTO row (kind, key, value) VALUES (?,?,?)"
STEPS = 50
"""Steps of one call; that of the call itself is part of their cost."""


class Told(BaseModel):
    """The result of each tool."""

    number: int
    cached: bool = False


@tool(effects=READ_ONLY)
async def state_commit(call: Call, number: int, first: int) -> Told:
    """Record as many records of several kinds, with one commit."""
    made = range(first, first + number)
    call.record(*(Record(KINDS[k % 4], {"text": f"{k} {TEXT}"}, key=f"{k:012}") for k in made))
    return Told(number=number)


@tool(effects=READ_ONLY)
async def state_steps(call: Call, first: int) -> Told:
    """Commit the results of steps, within work that is done once."""

    async def produce(shared: Call) -> Told:
        for step in range(STEPS):
            await shared.step(f"step-{step}", _reply)
        return Told(number=STEPS)

    return await call.once(cache_key(steps=first), Told, produce)


@tool(effects=READ_ONLY)
async def state_hit(call: Call) -> Told:
    """Return a result that is in the cache."""

    async def produce(_shared: Call) -> Told:
        return Told(number=1)

    return await call.once(cache_key(hit="one"), Told, produce)


async def _reply() -> dict[str, str]:
    return {"text": TEXT}


def plugin() -> SimpleNamespace:
    """The tools, and the kinds of their records."""
    field = RecordField("text", searchable=True)
    kinds = [RecordKind(name, f"{name}.", (field,), rerank="text") for name in KINDS]
    tools = [state_commit, state_steps, state_hit]
    return SimpleNamespace(
        vr_tools=hookimpl(lambda: tools), vr_record_kinds=hookimpl(lambda: kinds)
    )


async def rates(rounds: int) -> dict[str, float]:
    """Operations in a second of processor time: the best of several rounds for each name."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        names = ("CONFIG", "STATE", "CACHE")
        environ = {"HOME": folder, **{f"VR_{name}_DIR": f"{folder}/{name}" for name in names}}
        config = load_config(environ, {"store.backend": "none"}, Path(folder))
        async with aclosing(Kernel(config, {"state": plugin()})) as kernel:
            works = _works(kernel)
            for _ in range(rounds):
                for name, (operations, work) in works.items():
                    rate = operations / await _processor_s(work)
                    best[name] = max(best.get(name, 0.0), rate)
    return best


def _works(kernel: Kernel) -> dict[str, tuple[int, Callable[[], Awaitable[None]]]]:
    given = iter(range(1, 1_000_000_000, 1_000))

    def commits(number: int, times: int) -> tuple[int, Callable[[], Awaitable[None]]]:
        async def work() -> None:
            for _ in range(times):
                await kernel.call("state_commit", number=number, first=next(given))

        return number * times, work

    async def steps() -> None:
        for _ in range(4):
            await kernel.call("state_steps", first=next(given))

    async def hits() -> None:
        for _ in range(200):
            await kernel.call("state_hit")

    return {
        "records, one a commit": commits(1, 60),
        "records, five a commit": commits(5, 40),
        "records, 500 a commit": commits(500, 3),
        f"steps, {STEPS} a call": (4 * STEPS, steps),
        "cache hits": (200, hits),
    }


async def _processor_s(work: Callable[[], Awaitable[None]]) -> float:
    began = time.process_time()
    await work()
    return time.process_time() - began


def floor_rates(rounds: int) -> dict[str, float]:
    """The same rows by SQLite alone: one table, one index, each commit on the disk."""
    best: dict[str, float] = {}
    with tempfile.TemporaryDirectory() as folder:
        connection = sqlite3.connect(Path(folder) / "floor.db", isolation_level=None)
        connection.executescript(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL;"
            "CREATE TABLE row (id INTEGER PRIMARY KEY, kind TEXT, key TEXT, value TEXT,"
            " UNIQUE (kind, key))"
        )
        given = iter(range(1, 1_000_000_000))
        value = json.dumps({"text": TEXT})
        for _ in range(rounds):
            for name, number, times in (
                ("records, one a commit", 1, 60),
                ("records, five a commit", 5, 40),
                ("records, 500 a commit", 500, 3),
                (f"steps, {STEPS} a call", 1, 4 * STEPS),
            ):
                began = time.process_time()
                for _ in range(times):
                    rows = [(KINDS[k % 4], f"{next(given):012}", value) for k in range(number)]
                    connection.execute("BEGIN IMMEDIATE")
                    connection.executemany(
                        "INSERT INTO row (kind, key, value) VALUES (?,?,?)", rows
                    )
                    connection.execute("COMMIT")
                rate = number * times / (time.process_time() - began)
                best[name] = max(best.get(name, 0.0), rate)
        connection.close()
    return best


if __name__ == "__main__":
    side, count = sys.argv[1], int(sys.argv[2])
    found = floor_rates(count) if side == "floor" else asyncio.run(rates(count))
    print(json.dumps(found))
