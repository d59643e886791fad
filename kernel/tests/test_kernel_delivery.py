"""The way from the journal into a store: everything, in order, once, and never in a tool's way."""

from __future__ import annotations

import asyncio
from collections.abc import Callable, Sequence
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Change,
    Hit,
    Kernel,
    Provider,
    Query,
    Record,
    RecordField,
    RecordKind,
    Store,
    StoredRecord,
    VrError,
    load_config,
    tool,
)
from vr_kernel.running.housekeeping import DELIVER_AFTER_S
from vr_kernel.state import Entry
from waiting import always, until

NOTES = RecordKind("Notes", "Notes.", (RecordField("text"),), rerank="text")
PATIENT_S = 20.0
PAUSE_S = 0.001


class Done(BaseModel):
    """Nothing to say."""


@tool(effects=WRITES_LOCAL)
async def note_write(call: Call, text: str) -> Done:
    """Record a note under its own text."""
    call.record(Record("Notes", {"text": text}, key=text))
    return Done()


class MemoryStore:
    """A store in memory, of which every part can be made to fail or to hang."""

    name = "embedded"

    def __init__(self) -> None:
        self.kinds: list[RecordKind] = []
        self.applied: list[Change] = []
        self.position = 0
        self.before: dict[str, Callable[[], Any]] = {}
        self.calls: dict[str, int] = {}

    async def _enter(self, part: str) -> None:
        self.calls[part] = self.calls.get(part, 0) + 1
        if part in self.before:
            waiting = self.before[part]()
            if waiting is not None:
                await waiting

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        await self._enter("open")
        self.kinds = list(kinds)

    async def aclose(self) -> None:
        await self._enter("aclose")

    async def cursor(self) -> int:
        await self._enter("cursor")
        return self.position

    async def apply(self, changes: Sequence[Change]) -> None:
        await self._enter("apply")
        self.applied += changes
        self.position = changes[-1].seq

    async def search(self, query: Query) -> list[Hit]:
        return [Hit(self._stored(c), 1.0) for c in self.applied if query.text in c.key]

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        return [Hit(self._stored(c), 0.5) for c in self.applied if c.key != key][:limit]

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        return next((self._stored(c) for c in self.applied if (c.kind, c.key) == (kind, key)), None)

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        return {"": len(self.applied)}

    async def pending_vectors(self) -> int:
        return 7

    @staticmethod
    def _stored(change: Change) -> StoredRecord:
        return StoredRecord(change.kind, change.key, change.fields or {}, change.provenance)


def _failing(times: int, error: BaseException) -> Callable[[], None]:
    left = [error] * times

    def fail() -> None:
        if left:
            raise left.pop()

    return fail


def _hang() -> Any:
    return asyncio.Event().wait()


@pytest.fixture
def store() -> MemoryStore:
    return MemoryStore()


@pytest.fixture
def begin(start: Any, make_plugin: Any, config: Any) -> Any:
    """Opens a kernel with a tool that records, and with the given store."""

    async def begin(store: MemoryStore | None, config: Any = config) -> Kernel:
        offered = [Provider(Store, "embedded", lambda _services: store)] if store else []
        return await start({"note": make_plugin([note_write], [NOTES], offered)}, config=config)

    return begin


async def _write(kernel: Kernel, *texts: str) -> None:
    for text in texts:
        await kernel.call("note_write", text=text)


def _keys(store: MemoryStore) -> list[str]:
    return [change.key for change in store.applied]


async def _require_everything_once(kernel: Kernel, store: MemoryStore) -> None:
    assert store.applied == await kernel.services.journal.changes(0, 10_000)
    seqs = [change.seq for change in store.applied]
    assert seqs == sorted(set(seqs))


async def test_a_store_gets_every_record_in_order(begin: Any, store: MemoryStore) -> None:
    kernel = await begin(store)
    await _write(kernel, "a", "b", "c")
    assert await kernel.services.store.catch_up(PATIENT_S) == 0
    assert _keys(store) == ["a", "b", "c"]
    assert NOTES in store.kinds
    await _require_everything_once(kernel, store)


async def test_records_reach_the_store_without_being_asked_for(
    begin: Any, store: MemoryStore
) -> None:
    applied = asyncio.Event()
    store.before["apply"] = applied.set
    kernel = await begin(store)
    await _write(kernel, "a")
    async with asyncio.timeout(PATIENT_S):
        await applied.wait()


async def test_more_records_than_one_batch_arrive(begin: Any, store: MemoryStore) -> None:
    kernel = await begin(store)
    entries = [Entry("Notes", str(number), {"text": "x"}) for number in range(1234)]
    await kernel.services.journal.commit(entries, workspace="default", provenance={})
    await _write(kernel, "last")
    assert await kernel.services.store.catch_up(PATIENT_S) == 0
    assert _keys(store) == [*map(str, range(1234)), "last"]
    assert store.calls["apply"] >= 3


async def test_a_store_installed_later_starts_from_the_beginning(
    begin: Any, store: MemoryStore
) -> None:
    first = await begin(None)
    await _write(first, "a", "b", "a")
    await first.aclose()
    second = await begin(store)
    assert await second.services.store.catch_up(PATIENT_S) == 0
    assert _keys(store) == ["b", "a"]


async def test_what_another_process_committed_arrives_too(begin: Any, store: MemoryStore) -> None:
    here, elsewhere = await begin(store), await begin(None)
    await _write(here, "a")
    await _write(elsewhere, "b")
    await _write(here, "c")
    assert await here.services.store.catch_up(PATIENT_S) == 0
    assert _keys(store) == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("part", "error"),
    [
        ("open", RuntimeError("not yet")),
        ("open", VrError("Not yet.")),
        ("cursor", OSError("not yet")),
        ("apply", RuntimeError("not yet")),
        ("apply", SystemExit(1)),
    ],
    ids=str,
)
async def test_a_store_that_fails_gets_everything_later(
    begin: Any, store: MemoryStore, part: str, error: BaseException
) -> None:
    store.before[part] = _failing(2, error)
    kernel = await begin(store)
    kernel.services.store.follower.first_pause_s = PAUSE_S
    await _write(kernel, "a", "b", "c")
    assert store.applied == []
    assert await kernel.services.store.catch_up(PATIENT_S) == 0
    await _require_everything_once(kernel, store)
    assert _keys(store) == ["a", "b", "c"]


async def test_a_store_that_fails_again_and_again_misses_nothing(
    begin: Any, store: MemoryStore
) -> None:
    """Records that come while it fails queue up behind the earlier ones."""
    kernel = await begin(store)
    kernel.services.store.follower.first_pause_s = PAUSE_S
    for number in range(3):
        store.before["apply"] = _failing(1, RuntimeError("not now"))
        await _write(kernel, f"{number} a", f"{number} b")
        assert await kernel.services.store.catch_up(0.05) in {0, 1, 2}
        await _write(kernel, f"{number} c")
        assert await kernel.services.store.catch_up(PATIENT_S) == 0
    await _require_everything_once(kernel, store)
    assert _keys(store) == [f"{number} {letter}" for number in range(3) for letter in "abc"]


async def test_a_failing_store_never_fails_a_tool_and_is_in_the_log(
    begin: Any, store: MemoryStore, capfd: pytest.CaptureFixture[str]
) -> None:
    store.before["apply"] = _failing(99, RuntimeError("the disk is \x1b[31mfull"))
    kernel = await begin(store)
    outcome = await kernel.run("note_write", {"text": "a"})
    assert (outcome.error, outcome.notes) == (None, ())
    out = err = ""

    def is_told() -> bool:
        nonlocal out, err
        captured = capfd.readouterr()
        out, err = out + captured.out, err + captured.err
        return "store did not take changes" in err and err.endswith("\n")

    await until(is_told)
    assert "full" in err
    assert "\x1b" not in err
    assert out == ""
    assert await kernel.services.store.catch_up(0.1) == 1


@pytest.mark.parametrize("part", ["open", "cursor", "apply"])
async def test_a_hanging_store_delays_no_tool_and_no_question(
    begin: Any, store: MemoryStore, part: str
) -> None:
    store.before[part] = _hang
    kernel = await begin(store)
    async with asyncio.timeout(PATIENT_S):
        await _write(kernel, *(str(number) for number in range(10)))
        assert await kernel.services.store.catch_up(0.1) == 10
    async with asyncio.timeout(PATIENT_S):
        await kernel.aclose()
    assert len(await kernel.services.journal.changes(0)) == 10
    kernel.services.journal.close()


async def test_what_is_pending_is_counted(begin: Any, store: MemoryStore) -> None:
    kernel = await begin(store)
    await _write(kernel, "a", "b")
    assert await kernel.services.store.catch_up(PATIENT_S) == 0
    store.before["apply"] = _hang
    await _write(kernel, "c", "d", "e")
    assert await kernel.services.store.catch_up(0.1) == 3


@pytest.mark.parametrize("part", ["open", "cursor"])
async def test_what_a_store_may_have_long_had_is_not_pending(
    begin: Any, store: MemoryStore, part: str
) -> None:
    """A store that takes long to open has not said yet how far it is."""
    first = await begin(store)
    await _write(first, "a", "b", "c")
    assert await first.services.store.catch_up(PATIENT_S) == 0
    await first.aclose()
    store.before[part] = _hang
    second = await begin(store)
    assert await second.services.store.catch_up(0.05) == 0
    await _write(second, "d")
    assert await second.services.store.catch_up(0.05) == 1


class StuckStore(MemoryStore):
    """A store that takes changes and forgets that it did."""

    async def cursor(self) -> int:
        return 0


async def test_a_store_whose_cursor_stays_is_left_in_peace(begin: Any) -> None:
    """It is tried again after a pause, not in a busy loop."""
    store = StuckStore()
    kernel = await begin(store)
    await _write(kernel, "a")
    assert await kernel.services.store.catch_up(0.4) == 1
    assert store.calls["apply"] <= 3, "pauses grow"


async def test_what_was_not_delivered_is_delivered_after_the_next_start(
    begin: Any, store: MemoryStore
) -> None:
    store.before["apply"] = _hang
    first = await begin(store)
    await _write(first, "a", "b")
    await first.aclose()
    store.before.clear()
    second = await begin(store)
    assert await second.services.store.catch_up(PATIENT_S) == 0
    await _require_everything_once(second, store)


async def test_without_a_store_nothing_is_pending(begin: Any) -> None:
    kernel = await begin(None)
    await _write(kernel, "a")
    assert not kernel.services.store.available()
    assert kernel.services.store.name == ""
    assert await kernel.services.store.catch_up() == 0
    with pytest.raises(VrError) as caught:
        await kernel.services.store.search(Query("a"))
    assert caught.value.code == "UNAVAILABLE"
    assert "Install" in caught.value.hint


async def test_a_configured_store_that_is_missing_is_named_and_harms_no_tool(
    begin: Any, store: MemoryStore, environ: dict[str, str], working_folder: Any
) -> None:
    other = load_config(environ | {"VR_STORE__BACKEND": "weaviate"}, working_folder=working_folder)
    kernel = await begin(store, other)
    await _write(kernel, "a")
    assert await kernel.services.store.catch_up(0.1) in {0, 1}
    with pytest.raises(VrError, match="'weaviate'") as caught:
        await kernel.services.store.search(Query("a"))
    assert "Installed: embedded" in caught.value.hint
    assert len(await kernel.services.journal.changes(0)) == 1


async def test_questions_are_passed_on(begin: Any, store: MemoryStore) -> None:
    kernel = await begin(store)
    await _write(kernel, "a", "b")
    await kernel.services.store.catch_up(PATIENT_S)
    assert kernel.services.store.name == "embedded"
    assert [hit.record.key for hit in await kernel.services.store.search(Query("b"))] == ["b"]
    assert [h.record.key for h in await kernel.services.store.near("Notes", "a", "default", 5)] == [
        "b"
    ]
    found = await kernel.services.store.get("Notes", "a", "default")
    assert found is not None
    assert found.fields["text"] == "a"
    assert found.provenance["tool"] == "note_write"
    assert await kernel.services.store.get("Notes", "z", "default") is None
    assert await kernel.services.store.count("Notes", "default") == {"": 2}
    assert await kernel.services.store.pending_vectors() == 7


async def test_it_is_opened_once_and_closed_with_the_kernel(begin: Any, store: MemoryStore) -> None:
    kernel = await begin(store)
    assert store.calls == {}
    await _write(kernel, "a")
    await asyncio.gather(*(kernel.services.store.search(Query("a")) for _ in range(5)))
    await kernel.services.store.catch_up(PATIENT_S)
    assert "aclose" not in store.calls
    await kernel.aclose()
    assert store.calls["open"] == 1
    assert store.calls["aclose"] >= 1


async def test_a_store_that_cannot_be_closed_keeps_nothing_else_open(
    begin: Any, store: MemoryStore, config: Any
) -> None:
    store.before["aclose"] = _failing(9, RuntimeError("stuck"))
    kernel = await begin(store)
    await _write(kernel, "a")
    await kernel.services.store.catch_up(PATIENT_S)
    await kernel.aclose()
    leftovers = {path.suffix for path in config.paths.state.iterdir()}
    assert ".db-wal" not in leftovers  # SQLite removes it when the last connection is closed


async def test_a_store_ahead_of_a_new_journal_gets_what_is_recorded_from_now_on(
    begin: Any, store: MemoryStore, config: Any
) -> None:
    """The journal's file was lost; the store keeps what it has, and misses nothing new."""
    first = await begin(store)
    await _write(first, "a", "b", "c")
    assert await first.services.store.catch_up(PATIENT_S) == 0
    await first.aclose()
    for file in config.paths.state.glob("journal.db*"):
        file.unlink()
    second = await begin(store)
    await _write(second, "d")
    assert await second.services.store.catch_up(PATIENT_S) == 0
    await _write(second, "e")
    assert await second.services.store.catch_up(PATIENT_S) == 0
    assert _keys(store) == ["a", "b", "c", "d", "e"]
    seqs = [change.seq for change in store.applied]
    assert seqs == sorted(set(seqs))


@pytest.mark.slow
async def test_a_server_lets_its_store_catch_up(begin: Any) -> None:
    """Also when nobody calls anything: such as a store that was installed just now."""
    before = await begin(None)
    await _write(before, "a", "b")
    store = MemoryStore()
    kernel = await begin(store)
    async with kernel.serving():
        await until(lambda: _keys(store) == ["a", "b"])


@pytest.mark.slow
async def test_a_server_without_records_makes_no_file(begin: Any) -> None:
    kernel = await begin(MemoryStore())
    async with kernel.serving():
        await always(lambda: not kernel.config.paths.journal.exists(), DELIVER_AFTER_S + 0.2)
