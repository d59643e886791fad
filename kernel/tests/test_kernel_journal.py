"""The journal: every record, its newest state once, in rising order, whatever happens."""

from __future__ import annotations

import asyncio
import random
import shutil
import sqlite3
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import closing
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from vr_kernel import VrError
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.journal.journal import SqliteJournal

fields = st.none() | st.dictionaries(
    st.text(max_size=5),
    st.text() | st.integers() | st.booleans() | st.lists(st.text(), max_size=3),
    max_size=3,
)
entries = st.builds(Entry, st.sampled_from(["A", "B"]), st.sampled_from("abcd"), fields)
commits = st.tuples(st.sampled_from(["one", "two"]), st.lists(entries, min_size=1, max_size=6))


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(tmp_path / "journal.db")) as journal:
        yield journal


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(history=st.lists(commits, max_size=12), limit=st.integers(1, 7))
def test_it_holds_the_newest_state_of_every_key(
    history: list[tuple[str, list[Entry]]], limit: int
) -> None:
    async def replay(journal: SqliteJournal) -> None:
        newest: dict[tuple[str, str, str], tuple[int, Any]] = {}
        cursors = [0]
        for step, (workspace, written) in enumerate(history):
            seq = await journal.commit(written, workspace=workspace, provenance={"step": step})
            assert seq > cursors[-1]
            assert seq == await journal.last_seq()
            cursors.append(seq)
            for entry in written:
                newest[workspace, entry.kind, entry.key] = (step, entry.fields)
        for step, cursor in enumerate(cursors):
            changes = await _read_on(journal, cursor, limit)
            later = {key: state for key, state in newest.items() if state[0] >= step}
            assert len(changes) == len(later)
            assert {
                (c.workspace, c.kind, c.key): (c.provenance["step"], c.fields) for c in changes
            } == later

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteJournal(Path(folder) / "journal.db")) as journal,
    ):
        asyncio.run(replay(journal))


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


async def test_a_new_journal_is_empty(journal: SqliteJournal) -> None:
    assert await journal.last_seq() == 0
    assert await journal.changes(0) == []


async def test_sequence_numbers_never_come_back(journal: SqliteJournal) -> None:
    """Even when the newest record is the one that is replaced, and after a new start."""
    seen = []
    for _ in range(5):
        for fields in ({}, None):
            await journal.commit([Entry("A", "a", fields)], workspace="w", provenance={})
            seen.append(await journal.last_seq())
            journal.close()
    assert seen == sorted(set(seen))
    assert len(await journal.changes(0)) == 1


@settings(max_examples=12, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(written=st.integers(0, 6), cursor=st.integers(0, 12))
def test_it_continues_after_a_store_that_is_ahead(written: int, cursor: int) -> None:
    """Its file was lost or replaced: order stays, numbers go on above the store's cursor."""

    async def check(journal: SqliteJournal) -> None:
        for number in range(written):
            await journal.commit([Entry("A", str(number), {})], workspace="w", provenance={})
        before = await journal.changes(0)
        for _ in range(2):
            await journal.continue_after(cursor)
        after = await journal.changes(0)
        assert [change.key for change in after] == [change.key for change in before]
        if written >= cursor:
            assert after == before
        else:
            assert all(change.seq > cursor for change in after)
        new = await journal.commit([Entry("A", "new", {})], workspace="w", provenance={})
        assert new > max([cursor, *(change.seq for change in after)])
        assert [change.key for change in await journal.changes(new - 1)] == ["new"]

    with (
        tempfile.TemporaryDirectory() as folder,
        closing(SqliteJournal(Path(folder) / "journal.db")) as journal,
    ):
        asyncio.run(check(journal))


async def test_a_change_says_where_and_when_it_was_made(journal: SqliteJournal) -> None:
    await journal.commit(
        [Entry("A", "ключ", {"text": "naïve 🎬"})], workspace="w", provenance={"tool": "x_y"}
    )
    (change,) = await journal.changes(0)
    assert (change.kind, change.key, change.workspace) == ("A", "ключ", "w")
    assert change.fields == {"text": "naïve 🎬"}
    assert change.provenance == {"tool": "x_y"}
    age = datetime.now(UTC) - datetime.fromisoformat(change.created_at)
    assert timedelta(0) <= age < timedelta(minutes=1)


async def test_a_commit_is_written_whole_or_not_at_all(journal: SqliteJournal) -> None:
    await journal.commit([Entry("A", "kept", {})], workspace="w", provenance={})
    nameless: Any = None
    with pytest.raises(VrError) as caught:
        await journal.commit(
            [Entry("A", "one", {}), Entry("A", nameless, {}), Entry("A", "kept", None)],
            workspace="w",
            provenance={},
        )
    assert caught.value.code == "UNAVAILABLE"
    with pytest.raises(TypeError):
        await journal.commit(
            [Entry("A", "two", {}), Entry("A", "three", {"no": {"JSON"}})],
            workspace="w",
            provenance={},
        )
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


async def test_readers_see_a_commit_whole(journal: SqliteJournal, tmp_path: Path) -> None:
    """While one writes batches of ten, another never reads part of a batch."""
    writing = asyncio.create_task(_write_batches(journal))
    with closing(SqliteJournal(tmp_path / "journal.db")) as reader:
        while not writing.done():
            changes = await reader.changes(0, 10_000)
            assert len(changes) % 10 == 0
    await writing
    assert len(await journal.changes(0, 10_000)) == 400


async def _write_batches(journal: SqliteJournal) -> None:
    for batch in range(40):
        written = [Entry("A", f"{batch} {number}", {}) for number in range(10)]
        await journal.commit(written, workspace="w", provenance={})


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


RECORDER = """
import asyncio, sys
from pathlib import Path
from types import SimpleNamespace

from pydantic import BaseModel

from vr_kernel import (
    Call, Kernel, Record, RecordField, RecordKind, WRITES_LOCAL, entity_key, hookimpl, load_config,
    tool,
)

class Done(BaseModel):
    batch: str

@tool(effects=WRITES_LOCAL)
async def note_write(call: Call, batch: str) -> Done:
    "Record a batch of five notes."
    for number in range(5):
        call.record(Record("Notes", {"batch": batch}, key=entity_key(batch, number)))
    return Done(batch=batch)

@hookimpl
def vr_tools():
    return [note_write]

@hookimpl
def vr_record_kinds():
    return [RecordKind("Notes", "Notes.", (RecordField("batch"),), rerank="batch")]

async def main(folder, name):
    folders = {f"VR_{part}_DIR": str(folder / part) for part in ("STATE", "CACHE", "CONFIG")}
    config = load_config(environ={"HOME": str(folder), **folders}, working_folder=folder)
    plugin = SimpleNamespace(vr_tools=vr_tools, vr_record_kinds=vr_record_kinds)
    async with Kernel.open(config, {"note": plugin}, roots=[]) as kernel:
        print("ready", flush=True)
        number = 0
        while True:
            outcome = await kernel.run("note_write", {"batch": f"{name} {number}"})
            if outcome.error or outcome.notes:
                sys.exit(f"not recorded: {outcome}")
            print(outcome.result.batch, flush=True)
            number += 1

asyncio.run(main(Path(sys.argv[1]), sys.argv[2]))
"""


@pytest.mark.parametrize("kills", [4, pytest.param(200, marks=pytest.mark.slow)])
@pytest.mark.timeout(900)
def test_nothing_acknowledged_is_lost_when_the_process_is_killed(
    tmp_path: Path, kills: int
) -> None:
    """Two processes at a time record into one journal and are killed at random moments."""
    chance = random.Random(kills)
    acknowledged: set[str] = set()
    for attempt in range(kills // 2):
        recorders = [
            subprocess.Popen(
                [sys.executable, "-c", RECORDER, str(tmp_path), f"{attempt} {name}"],
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                text=True,
            )
            for name in ("one", "two")
        ]
        for recorder in recorders:
            assert recorder.stdout.readline() == "ready\n", recorder.stderr.read()
        for recorder in recorders:
            acknowledged |= _kill_at_random(recorder, chance)
    with closing(sqlite3.connect(tmp_path / "STATE" / "journal.db")) as connection:
        assert connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    recorded = asyncio.run(_batches(tmp_path / "STATE" / "journal.db"))
    assert len(acknowledged) >= kills
    assert acknowledged <= recorded.keys()
    assert set(recorded.values()) == {5}


def _kill_at_random(recorder: subprocess.Popen[str], chance: random.Random) -> set[str]:
    """The batches that the process acknowledged before it was killed."""
    with recorder:
        text = "".join(recorder.stdout.readline() for _ in range(chance.randrange(1, 40)))
        for _ in range(chance.randrange(60_000)):
            pass  # up to about 2 ms, so that the kill falls at any point of a commit
        recorder.kill()
        text += recorder.stdout.read()
        assert recorder.stderr.read() == ""
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
