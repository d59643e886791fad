"""The journal: every record, its newest state once, in rising order, whatever happens."""

from __future__ import annotations

import asyncio
import os
import random
import shutil
import sqlite3
import subprocess
import sys
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
import record_worker
from paid_worker import Nursery
from vr_kernel import VrError
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.journal.journal import SqliteJournal


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(tmp_path / "journal.db")) as journal:
        yield journal


async def _read_on(journal: SqliteJournal, cursor: int, limit: int) -> list[Any]:
    """All later changes, page by page, as a store reads them."""
    read: list[Any] = []
    while page := await journal.changes(cursor, limit):
        assert len(page) <= limit
        seqs = [cursor, *(change.seq for change in page)]
        assert all(one < other for one, other in pairwise(seqs))
        read += page
        cursor = page[-1].seq
    return read


async def test_a_commit_that_fails_on_its_way_is_undone(journal: SqliteJournal) -> None:
    await journal.commit([Entry("A", "kept", {})], workspace="w", provenance={})
    nameless: Any = None
    with pytest.raises(VrError) as caught:
        await journal.commit(
            [Entry("A", "one", {}), Entry("A", nameless, {}), Entry("A", "kept", None)],
            workspace="w",
            provenance={},
        )
    assert caught.value.code == "UNAVAILABLE"
    (change,) = await journal.changes(0)
    assert (change.key, change.fields) == ("kept", {})


async def test_many_who_commit_first_are_one_opening(journal: SqliteJournal) -> None:
    many = (
        journal.commit([Entry("A", str(number), {})], workspace="one", provenance={})
        for number in range(200)
    )
    await asyncio.gather(*many)
    changes = await journal.changes(0)
    assert len(changes) == 200
    assert len({change.opening for change in changes}) == 1
    assert await journal.continuity.look() is None


WRITER = """
import asyncio, pathlib, sys
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_kernel.state import Entry

async def main():
    journal = SqliteJournal(pathlib.Path(sys.argv[1]))
    for number in range(150):
        own = Entry("A", f"{sys.argv[2]} {number}", {"by": sys.argv[2]})
        shared = Entry("A", "shared", {"by": sys.argv[2], "number": number})
        print(await journal.commit([own, shared], workspace="w", provenance={}))
    journal.close()

asyncio.run(main())
"""


async def test_processes_that_commit_at_once_lose_nothing(
    journal: SqliteJournal, tmp_path: Path
) -> None:
    writers = [
        await asyncio.create_subprocess_exec(
            *(sys.executable, "-c", WRITER, str(tmp_path / "journal.db"), name),
            stdout=subprocess.PIPE,
        )
        for name in ("one", "two", "three")
    ]
    given_out: list[int] = []
    for writer in writers:
        output, _ = await writer.communicate()
        assert writer.returncode == 0
        own = [int(line) for line in output.splitlines()]
        assert own == sorted(own)
        given_out += own
    assert len(set(given_out)) == 450
    changes = await journal.changes(0, 10_000)
    names = {f"{name} {number}" for name in ("one", "two", "three") for number in range(150)}
    assert {change.key for change in changes} == names | {"shared"}
    assert len(changes) == 451
    assert (changes[-1].key, changes[-1].seq) == ("shared", max(given_out))


@pytest.mark.skipif(os.name == "nt", reason="forks are POSIX")
@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(
    tmp_path: Path, kills: int
) -> None:
    """Two processes at a time record into one journal and are killed at random moments."""
    chance = random.Random(kills)
    acknowledged: set[str] = set()
    with Nursery(os.environ, tmp_path, record_worker.__file__) as nursery:
        for attempt in range(kills // 2):
            recorders = [Recorder(nursery, tmp_path, f"{attempt}-{name}") for name in "ab"]
            for recorder in recorders:
                assert recorder.told.readline() == "ready\n"
            for recorder in recorders:
                acknowledged |= _kill_at_random(recorder, chance)
    with closing(sqlite3.connect(tmp_path / "STATE" / "journal.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    recorded = asyncio.run(_batches(tmp_path / "STATE" / "journal.db"))
    assert len(acknowledged) >= kills
    assert acknowledged <= recorded.keys()
    assert set(recorded.values()) == {5}


class Recorder:
    """A process that records batches, and tells in a pipe which are acknowledged."""

    def __init__(self, nursery: Nursery, folder: Path, name: str) -> None:
        (folder / name).mkdir()
        os.mkfifo(folder / name / "told")
        self._nursery = nursery
        self._pid = nursery.start(name)
        self.told = (folder / name / "told").open(encoding="utf-8")

    def kill(self) -> None:
        """Kill it; it may not have ended before."""
        assert self._nursery.lives(self._pid)
        self._nursery.kill(self._pid)


def _kill_at_random(recorder: Recorder, chance: random.Random) -> set[str]:
    """The batches that the process acknowledged before it was killed."""
    with recorder.told as told:
        text = "".join(told.readline() for _ in range(chance.randrange(1, 12)))
        for _ in range(chance.randrange(60_000)):
            pass  # up to about 2 ms, so that the kill falls at any point of a commit
        recorder.kill()
        text += told.read()
    assert "not recorded" not in text
    return set(text.split("\n")[:-1])


async def _batches(path: Path) -> dict[str, int]:
    """Count the records of each batch that the journal holds."""
    sizes: dict[str, int] = {}
    with closing(SqliteJournal(path)) as journal:
        for change in await _read_on(journal, 0, 500):
            batch = change.fields["batch"]
            assert change.fields["source_tool"] == "note_write"
            sizes[batch] = sizes.get(batch, 0) + 1
    return sizes


async def test_a_truncated_log_loses_no_earlier_commit(tmp_path: Path) -> None:
    """A copy taken in the middle of a commit, as after a loss of power, opens and is whole."""
    source = tmp_path / "journal.db"
    with closing(SqliteJournal(source)) as journal:
        for number in range(20):
            written = [Entry("A", f"{number} {part}", {"t": "x" * 500}) for part in range(4)]
            await journal.commit(written, workspace="w", provenance={})
        log = source.with_name("journal.db-wal").read_bytes()
        for number in range(20):
            copy = tmp_path / f"{number}.db"
            shutil.copyfile(source, copy)
            cut = random.Random(number).randrange(len(log))
            copy.with_name(f"{copy.name}-wal").write_bytes(log[:cut])
            with closing(SqliteJournal(copy)) as torn:
                keys = [change.key for change in await torn.changes(0, 1000)]
            assert len(keys) % 4 == 0
            assert keys == [f"{n} {p}" for n in range(len(keys) // 4) for p in range(4)]
