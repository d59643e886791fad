"""Duties of the embedded store beyond answering: evolving, surviving, catching up."""

from __future__ import annotations

import os
import sqlite3
import threading
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

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
)
from vr_kernel import Code, Filter, Query, RecordField, VrError
from vr_plugin_knowledge.embedded_store.database import Database
from vr_plugin_knowledge.embedded_store.items import apply_changes
from vr_plugin_knowledge.embedded_store.schema import PAGE_BYTES
from vr_plugin_knowledge.embedded_store.store import EmbeddedStore


def keys(hits: list[Any]) -> list[str]:
    return [hit.record.key for hit in hits]


async def test_text_is_found_as_soon_as_apply_returns(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Cards", "a", {"text": "a fox at dawn"})])
        assert keys(await store.search(Query("fox", mode="keyword"))) == ["a"]


async def test_created_at_comes_from_the_journal(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        change = ledger.write("Cards", "a", {"text": "fox"})
        await store.apply([change])
        record = await store.get("Cards", "a", "default")
        assert record is not None
        assert record.fields["created_at"] == change.created_at
        assert record.provenance == {"tool": "sample_write"}
        late = Query("fox", mode="keyword", filters=(Filter("created_at", ">", change.created_at),))
        assert await store.search(late) == []


async def test_changes_at_or_below_the_cursor_are_skipped(open_store: OpenStore) -> None:
    ledger = Ledger()
    old = ledger.write("Cards", "a", {"text": "old fox"})
    new = ledger.write("Cards", "a", {"text": "new fox"})
    async with open_store(WordVectors()) as store:
        await store.apply([new])
        await store.apply([old, new])
        assert keys(await store.search(Query("old", mode="keyword"))) == []
        assert await store.count("Cards", "default") == {"": 1}


async def test_a_batch_that_fails_leaves_nothing_behind(open_store: OpenStore) -> None:
    ledger = Ledger()
    good = ledger.write("Cards", "a", {"text": "fox"})
    bad = replace(ledger.write("Cards", "b", {"text": "owl"}), fields={"text": object()})
    async with open_store(WordVectors()) as store:
        with pytest.raises(TypeError):
            await store.apply([good, bad])
        assert await store.cursor() == 0
        assert await store.count("Cards", "default") == {"": 0}


async def test_limit_counts_per_kind_and_scores_compare_across_kinds(
    open_store: OpenStore,
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        for number in range(5):
            ledger.write("Notes", f"n{number}", {"text": "fox " * (number + 1) + "owl"})
        ledger.write("Cards", "lone", {"text": "a bear that once saw a fox from far away"})
        await deliver(store, ledger)
        hits = await store.search(Query("fox owl", embed_words("fox owl"), limit=3))
        assert [hit.record.kind for hit in hits].count("Notes") == 3
        assert hits[-1].record.key == "lone"
        assert hits[-1].score < hits[0].score


async def test_workspaces_do_not_see_each_other(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        ledger.write("Cards", "a", {"text": "fox"}, workspace="one")
        ledger.write("Cards", "a", {"text": "fox owl"}, workspace="two")
        await deliver(store, ledger)
        for mode in ("keyword", "semantic", "hybrid"):
            hits = await store.search(Query("fox", embed_words("fox"), mode, workspace="one"))
            assert [hit.record.fields["text"] for hit in hits] == ["fox"]
        assert await store.get("Cards", "a", "three") is None


async def test_near_finds_the_kin_of_a_record_without_itself(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        ledger.write("Cards", "a", {"text": "fox owl bear"})
        ledger.write("Cards", "b", {"text": "fox owl lynx"})
        ledger.write("Cards", "c", {"text": "violin cello drum"})
        await deliver(store, ledger)
        assert keys(await store.near("Cards", "a", "default", 1)) == ["b"]
        assert keys(await store.near("Cards", "a", "default", 9)) == ["b", "c"]
        assert await store.near("Cards", "missing", "default", 9) == []


async def test_a_filter_that_a_kind_lacks_leaves_the_kind_out(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        ledger.write("Cards", "a", {"text": "fox", "category": "animals"})
        ledger.write("Notes", "b", {"text": "fox"})
        await deliver(store, ledger)
        query = Query("fox", mode="keyword", filters=(Filter("category", "=", "animals"),))
        assert keys(await store.search(query)) == ["a"]
        unordered = Query("fox", mode="keyword", filters=(Filter("category", "<", "b"),))
        assert await store.search(unordered) == []


async def test_a_filter_value_of_another_type_is_refused(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Notes", "a", {"text": "fox", "stars": 2})])
        query = Query("fox", mode="keyword", filters=(Filter("stars", "=", "2"),))
        with pytest.raises(VrError) as refused:
            await store.search(query)
        assert refused.value.code is Code.INVALID_INPUT


async def test_whole_numbers_beyond_64_bits_are_kept(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        await store.apply([ledger.write("Notes", "a", {"text": "fox", "stars": 10**30})])
        query = Query("fox", mode="keyword", filters=(Filter("stars", ">", 5),))
        assert (await store.search(query))[0].record.fields["stars"] == 10**30


async def test_counts_group_by_filterable_fields_only(open_store: OpenStore) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        ledger.write(
            "Notes", "a", {"text": "fox", "done": True, "due": "2026-01-02T03:04:05+00:00"}
        )
        ledger.write(
            "Notes", "b", {"text": "owl", "done": False, "due": "2026-01-02T09:00:00+00:00"}
        )
        ledger.write("Notes", "c", {"text": "bear"})
        await deliver(store, ledger)
        assert await store.count("Notes", "default", "done") == {"false": 1, "true": 1}
        assert await store.count("Notes", "default", "due") == {"2026-01-02": 2}
        with pytest.raises(VrError, match="cannot be grouped") as refused:
            await store.count("Notes", "default", "text")
        assert "video_id" in refused.value.hint


async def test_a_field_that_becomes_searchable_is_found_in_old_records(store_path: Path) -> None:
    ledger = Ledger()
    change = ledger.write("Cards", "a", {"text": "fox", "category": "animals"})
    before = EmbeddedStore(store_path, WordVectors(), quiet_log())
    await before.open([CARDS])
    await before.apply([change])
    assert await before.search(Query("animals", mode="keyword")) == []
    await before.aclose()

    text, category = CARDS.fields
    grown = replace(
        CARDS,
        fields=(text, replace(category, searchable=True, vectorised=True), RecordField("extra")),
    )
    after = EmbeddedStore(store_path, WordVectors(), quiet_log())
    await after.open([grown])
    assert keys(await after.search(Query("animals", mode="keyword"))) == ["a"]
    await deliver(after, ledger)
    hits = await after.search(Query("", embed_words("fox animals"), "semantic"))
    assert hits[0].score == pytest.approx(1.0, abs=1e-5)
    await after.aclose()


async def test_records_of_a_plugin_that_was_away_are_found_when_it_is_back(
    store_path: Path,
) -> None:
    ledger = Ledger()
    without = EmbeddedStore(store_path, WordVectors(), quiet_log())
    await without.open([CARDS])
    await deliver_one(without, ledger)
    assert await without.search(Query("fox", mode="keyword")) == []

    both = EmbeddedStore(store_path, WordVectors(), quiet_log())
    await both.open([CARDS, NOTES])
    assert keys(await both.search(Query("fox", mode="keyword"))) == ["a"]
    # It stays away in the other process, which goes on recording for it.
    await without.apply([ledger.write("Notes", "b", {"text": "fox too"})])
    await both.apply([ledger.write("Cards", "c", {"text": "owl"})])
    await deliver(both, ledger)
    hits = await both.search(Query("", embed_words("fox too"), "semantic", kinds=("Notes",)))
    assert keys(hits) == ["b", "a"]
    await both.aclose()
    await without.aclose()


async def deliver_one(store: EmbeddedStore, ledger: Ledger) -> None:
    await store.apply([ledger.write("Notes", "a", {"text": "fox"})])


DAMAGES = {
    "not a database": lambda raw: b"this is no database" * (len(raw) // 19),
    "torn from the start": lambda raw: raw[:16] + b"\xa5" * (len(raw) - 16),
    "torn in the middle": lambda raw: raw[: len(raw) // 2] + b"\xff" * (len(raw) // 2),
    "cut off": lambda raw: raw[: len(raw) // 3],
    "emptied": lambda _raw: b"",
}


@pytest.mark.parametrize("damage", DAMAGES)
async def test_a_damaged_file_is_set_aside_and_rebuilt(
    open_store: OpenStore, store_path: Path, damage: str
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store:
        for number in range(300):
            ledger.write("Cards", f"k{number}", {"text": f"fox {number} " + "owl " * 50})
        await deliver(store, ledger)
    with closing(sqlite3.connect(store_path)) as connection:
        connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")  # a log left behind would mend it
    overwrite(store_path, DAMAGES[damage])
    async with open_store(WordVectors()) as store:
        await deliver(store, ledger)
        assert await store.count("Cards", "default") == {"": 300}
        hits = await store.search(Query("fox 17", embed_words("fox 17"), limit=1))
        assert hits[0].record.key == "k17"
    assert len(set_aside(store_path)) == (0 if damage == "emptied" else 1)


def test_a_page_that_breaks_is_a_typed_error_and_the_next_call_works(store_path: Path) -> None:
    database = Database(store_path, quiet_log())
    ledger = Ledger()
    changes = [ledger.write("Cards", str(n), {"text": "fox " * 99}) for n in range(200)]
    database.write(lambda connection: apply_changes(connection, changes, {"Cards": CARDS}))
    root = database.read(
        lambda c: c.execute("SELECT rootpage FROM sqlite_schema WHERE name = 'item'").fetchone()[0]
    )
    database.close()
    start = (root - 1) * PAGE_BYTES
    overwrite(store_path, lambda raw: raw[:start] + b"\xff" * 512 + raw[start + 512 :])

    def read(connection: sqlite3.Connection) -> int:
        return len(connection.execute("SELECT fields FROM item").fetchall())

    with pytest.raises(VrError) as broken:
        database.read(read)
    assert broken.value.code is Code.UNAVAILABLE
    assert broken.value.retryable
    assert database.read(read) == 0
    assert len(set_aside(store_path)) == 1
    database.close()


def set_aside(path: Path) -> list[Path]:
    kept = path.parent.glob(f"{path.name}.damaged-*")
    return [file for file in kept if not file.name.endswith("-wal")]


def overwrite(path: Path, change: Callable[[bytes], bytes]) -> None:
    path.write_bytes(change(path.read_bytes()))


async def test_a_file_that_was_swapped_underneath_is_filled_from_the_start(
    open_store: OpenStore, store_path: Path
) -> None:
    ledger = Ledger()
    async with open_store(WordVectors()) as store, open_store(WordVectors()) as other:
        ledger.write("Cards", "a", {"text": "fox"})
        await deliver(store, ledger)
        await other.cursor()
        for file in sorted(store_path.parent.glob(f"{store_path.name}*"), reverse=True):
            file.unlink()
        # The change alone would leave out what lies before it; the kernel reads the cursor anew.
        with pytest.raises(VrError) as refused:
            await other.apply([ledger.write("Cards", "b", {"text": "owl"})])
        assert refused.value.retryable
        await deliver(other, ledger)
        await deliver(store, ledger)
        for one in (store, other):
            assert await one.count("Cards", "default") == {"": 2}
            assert len(await one.search(Query("", embed_words("fox"), "semantic"))) == 2


async def test_a_new_file_is_embedded_and_searched_from_the_start(
    open_store: OpenStore, store_path: Path
) -> None:
    old, new = Ledger(), Ledger()
    for number in range(5):
        old.write("Cards", f"old{number}", {"text": f"fox {number}"})
    new.write("Cards", "new", {"text": "violin cello"})
    async with open_store(WordVectors()) as store:
        await deliver(store, old)
        assert len(await store.search(Query("", embed_words("fox"), "semantic"))) == 5
        for file in sorted(store_path.parent.glob(f"{store_path.name}*"), reverse=True):
            file.unlink()  # its log first: a new file's log would go with it otherwise
        await deliver(store, new)
        asked = Query("", embed_words("violin cello"), "semantic")
        while not (hits := await store.search(asked)):  # it waits for vectors, but not for long
            pass
        (hit,) = hits
        assert hit.record.key == "new"
        assert hit.score == pytest.approx(1.0, abs=1e-5)


@pytest.mark.parametrize("layout", ["PRAGMA user_version = 999", "CREATE TABLE foreign_table (x)"])
async def test_a_file_of_another_layout_is_set_aside(
    open_store: OpenStore, store_path: Path, layout: str
) -> None:
    store_path.parent.mkdir(parents=True)
    with closing(sqlite3.connect(store_path)) as connection:
        connection.execute("CREATE TABLE anything (x)")
        connection.execute(layout)
    async with open_store(WordVectors()) as store:
        assert await store.cursor() == 0
    assert len(set_aside(store_path)) == 1


async def test_a_folder_in_the_place_of_the_file_is_a_typed_error(tmp_path: Path) -> None:
    store_path = tmp_path
    store = EmbeddedStore(store_path, WordVectors(), quiet_log())
    with pytest.raises(VrError) as refused:
        await store.open([CARDS])
    assert refused.value.code is Code.UNAVAILABLE
    assert str(store_path.parent) in refused.value.hint
    await store.aclose()


async def test_closing_twice_is_harmless(open_store: OpenStore) -> None:
    async with open_store(WordVectors()) as store:
        await store.aclose()


@pytest.mark.skipif(not Path("/proc/self/fd").is_dir(), reason="needs to see which files are open")
def test_work_that_outlasts_the_close_leaves_no_file_open(store_path: Path) -> None:
    database = Database(store_path, quiet_log(), close_wait_s=0.01)
    begun, closed = threading.Event(), threading.Event()

    def outlast(_: sqlite3.Connection) -> int:
        begun.set()
        closed.wait(30)
        return database.read(lambda c: int(c.execute("PRAGMA user_version").fetchone()[0]))

    with ThreadPoolExecutor(1) as thread:
        late = thread.submit(database.read, outlast)
        assert begun.wait(30)
        database.close()
        closed.set()
        assert late.result() >= 0
    links = [os.path.realpath(link) for link in Path("/proc/self/fd").iterdir()]
    assert [link for link in links if link.startswith(str(store_path.resolve()))] == []
