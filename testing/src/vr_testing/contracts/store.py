"""The contract of stores: tests that the tests of each store inherit."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

from vr_kernel.records import Change, RecordField, RecordKind
from vr_kernel.stores import Store

from vr_testing.contracts.store_samples import CARDS, NOTES, History, ask, found, keys, settle
from vr_testing.contracts.store_searches import MODES, StoreSearchContract

FULL_NOTE = {
    "title": "Füchse 🦊 & “owls”",
    "text": "line one\nline two\ttab — Ünïcode, 日本語, עברית, e\u0301",
    "source": 'it\'s "v1"; --',
    "tags": ["ä", "b c", "*"],
    "stars": -7,
    "start": 90.25,
    "done": False,
    "due": "2026-02-28T23:59:59.999999+00:00",
    "raw": '{"json": [1, null]}',
}
ODD_KEY = "https://a.example/ü?x=1&y='%20\" ; -- 🦊"


class StoreContract(StoreSearchContract):
    """The tests of `vr_kernel.Store`, for pytest with asyncio's auto mode.

    A store's tests subclass it once:

    ```python
    class TestEmbeddedStore(StoreContract):
        plugins: ClassVar = {"knowledge": plugin}
        provider = "embedded"
    ```

    Every test opens a kernel and a store of its own, with the embedder of
    `vr_testing`. A store on a server overrides `opened`, to give each folder a place of
    its own there. A test can be overridden where a store has a reason to differ.
    """

    durable: ClassVar[bool] = True
    """True for a store that still has its records when it is opened again."""

    async def test_an_empty_store_answers(self) -> None:
        """Nothing is found in it, and nothing fails."""
        async with self.opened() as store:
            assert store.name
            assert await store.cursor() == 0
            assert await store.pending_vectors() == 0
            assert await store.get(CARDS.name, "a", "default") is None
            assert await store.near(CARDS.name, "a", "default", 9) == []
            assert await store.count(CARDS.name, "default") == {"": 0}
            for mode in MODES:
                assert await found(store, "fox", mode) == []
            await store.apply([])
            assert await store.cursor() == 0

    async def test_a_record_comes_back_as_it_was(self) -> None:
        """Every type of field and any text; `created_at` is the journal's."""
        change = History().write(NOTES, ODD_KEY, FULL_NOTE)
        async with self.opened() as store:
            await store.apply([change])
            record = await store.get(NOTES.name, ODD_KEY, "default")
            assert record is not None, "it is not there"
            assert (record.kind, record.key) == (NOTES.name, ODD_KEY)
            assert record.fields == {**FULL_NOTE, "created_at": change.created_at}
            assert record.provenance == change.provenance
            (hit,) = await store.search(await ask("Füchse"))
            assert hit.record == record

    async def test_text_is_found_as_soon_as_it_is_applied(self) -> None:
        """By keyword at once; by meaning when no vectors are pending."""
        history = History()
        history.cards(a="a fox at dawn")
        async with self.opened() as store:
            await store.apply(history.changes)
            assert await store.cursor() == 1
            assert await found(store, "fox") == ["a"]
            await settle(store)
            assert await found(store, "fox", "semantic") == ["a"]

    async def test_the_newest_state_counts(self) -> None:
        """An old text is not found any more, by keyword or by meaning."""
        history = History()
        history.cards(a="fox", b="fox and bear")
        async with self.opened() as store:
            await history.deliver(store)
            history.cards(a="owl")
            await history.deliver(store)
            assert await found(store, "fox") == ["b"]
            assert await found(store, "owl") == ["a"]
            assert (await found(store, "fox", "semantic"))[0] == "b", "an old vector is there"
            assert await store.count(CARDS.name, "default") == {"": 2}

    async def test_what_is_deleted_is_gone(self) -> None:
        """It is gone from every answer, and may be written again."""
        history = History()
        history.cards(a="fox", b="fox owl")
        async with self.opened() as store:
            await history.deliver(store)
            history.write(CARDS, "a", None)
            history.write(CARDS, "never-there", None)
            await history.deliver(store)
            assert await store.get(CARDS.name, "a", "default") is None
            for mode in MODES:
                assert await found(store, "fox", mode) == ["b"], mode
            assert await store.near(CARDS.name, "b", "default", 9) == []
            assert await store.count(CARDS.name, "default") == {"": 1}
            history.cards(a="fox again")
            await history.deliver(store)
            assert set(await found(store, "fox", "semantic")) == {"a", "b"}

    async def test_a_replay_changes_nothing(self) -> None:
        """Changes at or below the cursor are ignored, so none overwrites a newer state."""
        history = _busy_history()
        async with self.opened() as store:
            await history.deliver(store)
            for replayed in (history.changes[:3], history.changes):
                await store.apply(replayed)
                await self.check_state(store, history.changes)

    async def test_changes_in_one_batch_keep_their_order(self) -> None:
        """A batch has the same effect as its changes one by one."""
        history = _busy_history()
        async with self.opened() as one_by_one, self.opened() as together:
            for change in history.changes:
                await one_by_one.apply([change])
            await together.apply(history.changes)
            for store in (one_by_one, together):
                await self.check_state(store, history.changes)

    async def test_a_batch_that_fails_leaves_nothing_behind(self) -> None:
        """Neither a record nor a moved cursor, unless the store accepts the batch as a whole."""
        history = History()
        history.cards(good="fox")
        bad = replace(history.write(CARDS, "bad", {}), fields={"text": object()})
        async with self.opened() as store:
            try:
                await store.apply([history.changes[0], bad])
            except Exception:  # noqa: BLE001 - how a store refuses what no journal holds is its own
                assert await store.cursor() == 0, "the cursor moved"
                assert await store.count(CARDS.name, "default") == {"": 0}, "half a batch is there"

    async def test_a_cancelled_batch_is_there_whole_or_not_at_all(self) -> None:
        """Applying it again completes it."""
        history = History()
        history.cards(**{f"k{number}": f"fox {number}" for number in range(50)})
        async with self.opened() as store:
            for turns in range(4):
                work = asyncio.ensure_future(store.apply(history.changes))
                for _ in range(turns):
                    await asyncio.sleep(0)
                work.cancel()
                with suppress(asyncio.CancelledError):
                    await work
                count = (await store.count(CARDS.name, "default"))[""]
                assert count in (0, 50), f"{count} of 50 are there"
                # The cursor is read later, so it cannot be behind the records seen before.
                assert await store.cursor() >= count, "records are ahead of the cursor"
            await history.deliver(store)
            await self.check_state(store, history.changes)

    async def test_two_may_apply_the_same(self) -> None:
        """Several processes may feed one store, each from the cursor that it last read."""
        history = _busy_history()
        async with self.opened() as store:
            searches = [found(store, "fox") for _ in range(3)]
            applied = [store.apply(part) for part in (history.changes, history.changes[:3])]
            await asyncio.gather(*applied, *searches)
            await self.check_state(store, history.changes)

    async def test_a_kind_that_nobody_declared_is_no_obstacle(self) -> None:
        """Its plugin may not be installed; the cursor moves on."""
        stranger = RecordKind("ContractStrangers", "", (RecordField("text"),), rerank="text")
        history = History()
        history.write(stranger, "s", {"text": "fox"})
        history.cards(a="fox")
        async with self.opened() as store:
            await history.deliver(store)
            assert await store.cursor() == len(history.changes)
            assert await found(store, "fox") == ["a"]

    async def test_workspaces_do_not_see_each_other(self) -> None:
        """The same key in two of them is two records."""
        history = History()
        history.write(CARDS, "a", {"text": "fox one"}, workspace="one")
        history.write(CARDS, "a", {"text": "fox two"}, workspace="two")
        history.write(CARDS, "b", {"text": "fox"}, workspace="two")
        history.write(CARDS, "b", None, workspace="one")
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                assert await found(store, "fox", mode, workspace="one") == ["a"], mode
                assert await found(store, "fox", mode, workspace="three") == [], mode
            record = await store.get(CARDS.name, "a", "two")
            assert record is not None
            assert record.fields["text"] == "fox two"
            assert await store.get(CARDS.name, "a", "three") is None
            assert await store.count(CARDS.name, "two") == {"": 2}
            assert keys(await store.near(CARDS.name, "a", "two", 9)) == ["b"]

    async def test_cursor_and_records_survive_together(self) -> None:
        """Opened again, a store has all changes up to its cursor, and takes the rest."""
        history = _busy_history()
        with TemporaryDirectory() as folder:
            async with self.opened(Path(folder)) as store:
                await history.deliver(store)
            async with self.opened(Path(folder)) as again:
                cursor = await again.cursor()
                if self.durable:
                    assert cursor == len(history.changes), "it lost its cursor"
                await self.check_state(again, history.changes[:cursor])
                history.cards(late="fox")
                await history.deliver(again)
                await self.check_state(again, history.changes)

    async def test_a_kind_may_grow(self) -> None:
        """With one more field, old records stay and new ones have it."""
        grown = replace(CARDS, fields=(*CARDS.fields, RecordField("colour", filterable=True)))
        history = History()
        history.cards(old="fox")
        with TemporaryDirectory() as folder:
            async with self.opened(Path(folder)) as store:
                await history.deliver(store)
            async with self.opened(Path(folder)) as again:
                await again.open([grown])
                history.write(grown, "new", {"text": "fox", "colour": "red"})
                await history.deliver(again)
                assert set(await found(again, "fox")) == {"old", "new"}
                assert await again.count(CARDS.name, "default", "colour") == {"red": 1}

    async def test_closing_twice_is_harmless(self) -> None:
        """Used or not, with vectors pending or not."""
        history = History()
        history.cards(**{f"k{number}": f"fox {number}" for number in range(20)})
        async with self.opened() as unused, self.opened() as used:
            await used.apply(history.changes)
            for store in (unused, used) * 2:
                await store.aclose()

    async def check_state(self, store: Store, changes: list[Change]) -> None:
        """Check that a store holds exactly the state after the changes, and its cursor says so."""
        await settle(store)
        newest = {(c.workspace, c.kind, c.key): c for c in changes}
        live: dict[str, Mapping[str, Any]] = {}
        for (workspace, kind, key), change in newest.items():
            record = await store.get(kind, key, workspace)
            assert (record is None) == (change.fields is None), f"{key}: {record}"
            if record is not None and change.fields is not None:
                assert record.fields["text"] == change.fields["text"], f"{key}: an older state"
                live[key] = change.fields
        assert await store.cursor() == (changes[-1].seq if changes else 0), "a wrong cursor"
        assert await store.count(CARDS.name, "default") == {"": len(live)}
        for mode in MODES:
            got = await found(store, "fox", mode, limit=99)
            assert sorted(got) == sorted(live), f"{mode}: {got}"


def _busy_history() -> History:
    """Cards that are written, changed, deleted and written again."""
    history = History()
    history.cards(a="fox one", b="fox", c="fox")
    history.write(CARDS, "b", None)
    history.cards(a="fox two")
    history.write(CARDS, "c", None)
    history.cards(c="fox is back", d="fox")
    return history
