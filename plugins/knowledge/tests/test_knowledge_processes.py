"""One file, several processes: what one commits another finds; a killed one loses nothing."""

from __future__ import annotations

import asyncio
import random
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from knowledge_samples import (
    CARDS,
    NOTES,
    Ledger,
    OpenStore,
    WordVectors,
    deliver,
    embed_words,
    quiet_log,
    scripted_changes,
)
from vr_kernel import Query
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore

WORKER = Path(__file__).with_name("knowledge_worker.py")
StartWorker = Callable[..., "subprocess.Popen[str]"]


@pytest.fixture
def start_worker(store_path: Path) -> Iterator[StartWorker]:
    started: list[subprocess.Popen[str]] = []

    def start(count: int, batch: int, path: Path = store_path) -> subprocess.Popen[str]:
        worker = subprocess.Popen(
            [sys.executable, WORKER, path, str(count), str(batch)],
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            text=True,
        )
        started.append(worker)
        return worker

    yield start
    for worker in started:
        worker.kill()
        worker.communicate()


async def finished(worker: subprocess.Popen[str]) -> None:
    assert worker.stdout is not None
    lines = worker.stdout
    while line := await asyncio.to_thread(lines.readline):
        if line == "done\n":
            return
    pytest.fail("the other process ended early")


def replayed(count: int, upto: int) -> Ledger:
    """The ledger that the scripted changes make, as far as they were applied."""
    ledger = Ledger()
    for number, (key, fields) in enumerate(scripted_changes(count), start=1):
        if number <= upto:
            ledger.write("Notes", key, fields)
    return ledger


@pytest.mark.parametrize(
    "lines", [1, 11, *(pytest.param(n, marks=pytest.mark.slow) for n in (4, 17))]
)
def test_a_killed_process_leaves_rows_and_cursor_in_step(
    start_worker: StartWorker, store_path: Path, lines: int
) -> None:
    check_after_kill(start_worker, store_path, lines)


@pytest.mark.slow
@pytest.mark.timeout(900)
def test_two_hundred_kills_lose_no_acknowledged_row(
    start_worker: StartWorker, tmp_path: Path
) -> None:
    chance = random.Random(11)
    for number in range(200):
        check_after_kill(start_worker, tmp_path / str(number) / "k.db", chance.randint(1, 55))


def check_after_kill(start_worker: StartWorker, store_path: Path, lines: int) -> None:
    """Kill a process after so many acknowledgements, and look at what it leaves."""
    worker = start_worker(400, 7, store_path)
    assert worker.stdout is not None
    acknowledged = [int(worker.stdout.readline()) for _ in range(lines)][-1]
    worker.kill()
    worker.wait()
    with closing(sqlite3.connect(store_path)) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchone() == ("ok",)
        connection.execute("INSERT INTO body(body) VALUES ('integrity-check')")

    async def check() -> None:
        store = EmbeddedStore(store_path, WordVectors(), quiet_log())
        await store.open([NOTES, CARDS])
        cursor = await store.cursor()
        assert cursor >= acknowledged
        live = replayed(400, cursor).live("Notes")
        assert await store.count("Notes", "default") == {"": len(live)}
        for key in [f"k{number}" for number in range(200)]:
            record = await store.get("Notes", key, "default")
            assert (dict(record.fields)["text"] if record else None) == (
                live[key]["text"] if key in live else None
            )
        await store.aclose()

    asyncio.run(check())


@pytest.mark.skipif(sys.platform == "win32", reason="Windows renames no file that is open")
async def test_a_file_that_another_process_has_open_is_set_aside_with_its_log(
    open_store: OpenStore, store_path: Path
) -> None:
    store_path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(store_path)) as other:
        other.execute("PRAGMA journal_mode = WAL")
        other.execute("CREATE TABLE other (x)")
        async with open_store(WordVectors()) as store:
            await deliver(store, replayed(40, 40))
            assert await store.cursor() == 40
        other.execute("INSERT INTO other VALUES (1)")
        other.commit()
        (log,) = store_path.parent.glob("*.damaged-*-wal")
    kept = log.with_name(log.name.removesuffix("-wal"))
    with closing(sqlite3.connect(kept)) as connection:
        assert connection.execute("SELECT x FROM other").fetchone() == (1,)


async def test_what_another_process_changes_is_found_and_what_it_deletes_is_not(
    open_store: OpenStore, start_worker: StartWorker
) -> None:
    count = 120
    query = Query("", embed_words("fox"), "semantic", kinds=("Notes",), limit=count)
    async with open_store(WordVectors()) as store:
        before = replayed(count, 70)
        await deliver(store, before)
        assert {hit.record.key for hit in await store.search(query)} == set(before.live("Notes"))
        await finished(start_worker(count, 20))
        live = replayed(count, count).live("Notes")
        hits = await store.search(query)
        assert {hit.record.key for hit in hits} == set(live)
        for hit in hits:
            assert hit.record.fields["text"] == live[hit.record.key]["text"]
            meant = embed_words(NOTES.vector_text(live[hit.record.key]))
            similarity = sum(a * b for a, b in zip(embed_words("fox"), meant, strict=True))
            assert hit.score == pytest.approx(similarity, abs=1e-5)


async def test_two_processes_may_deliver_the_same_journal(
    open_store: OpenStore, start_worker: StartWorker
) -> None:
    count = 200
    worker = start_worker(count, 3)
    async with open_store(WordVectors()) as store:
        ledger = replayed(count, count)
        for change in ledger.after(0):
            await store.apply([change])
        await finished(worker)
        await deliver(store, ledger)
        assert await store.cursor() == count
        assert await store.count("Notes", "default") == {"": len(ledger.live("Notes"))}
