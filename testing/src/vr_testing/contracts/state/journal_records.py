"""The contract of records in the journal: merged, former, folded, recovered, counted."""

from __future__ import annotations

from typing import Any

import pytest
from vr_kernel import Position, RecordField, RecordKind, StoredRecord
from vr_kernel.state import Entry, JournalTable

from vr_testing.contracts.state.part import PartContract

TIMES = ("2020-01-01T00:00:00+00:00", "2021-01-01T00:00:00+00:00")


class JournalRecordsContract(PartContract):
    """The tests of what becomes of records; `JournalContract` inherits them."""

    async def test_a_merge_keeps_what_it_does_not_name(self) -> None:
        """And removes what it gives as None; there may be no record yet."""
        async with self.opened() as state:
            journal = state.journal
            merged: list[dict[str, Any]] = [
                {"a": 1, "none": None},
                {"b": [2], "a": None},
                {"b": 3, "c": ""},
            ]
            expected = [{"a": 1}, {"b": [2]}, {"b": 3, "c": ""}]
            for fields, whole in zip(merged, expected, strict=True):
                await put(journal, Entry("A", "a", fields, merge=True))
                assert [it.fields for it in await journal.changes(0)] == [whole]
            await put(journal, Entry("A", "a", None), Entry("A", "a", {"d": 4}, merge=True))
            assert [it.fields for it in await journal.changes(0)] == [{"d": 4}]

    async def test_a_history_keeps_former_versions(self) -> None:
        """An older fact that comes late is one of them; a deletion takes them along."""
        async with self.opened() as state:
            journal = state.journal

            async def note(mood: str, at: str = "", *, merge: bool = False) -> None:
                fields = {"mood": mood, **({"created_at": at} if at else {})}
                entry = Entry("A", "a", fields, {"by": mood}, merge=merge, history=True)
                await put(journal, entry, Entry("A", "b", fields, history=True))

            async def moods() -> list[Any]:
                former = await journal.former("w", "A", "a")
                return [(it.fields or {})["mood"] for it in former]

            for mood, at in (("fine", TIMES[1]), ("fine", ""), ("late", TIMES[0]), ("sad", "")):
                await note(mood, at)
            (current, _) = await journal.changes(0)
            assert (current.key, current.fields) == ("a", {"mood": "sad"})
            former = await journal.former("w", "A", "a")
            assert await moods() == ["fine", "late"]
            assert [it.provenance["by"] for it in former] == ["fine", "late"]
            assert former[1].created_at == TIMES[0]
            await note("merged", merge=True)
            assert await moods() == ["sad", "fine", "late"]
            assert await journal.forget_former("w", TIMES[1], "B") == 0
            assert await journal.forget_former("v", TIMES[1]) == 0
            assert await journal.forget_former("w", TIMES[1], "A") == len(("a", "b"))
            assert await moods() == ["sad", "fine"]
            await put(journal, Entry("A", "a", None, history=True))
            assert await moods() == []
            assert await journal.former("w", "A", "b") != []

    async def test_records_are_folded_under_the_key_of_their_subject_once(self) -> None:
        """The newest stays, the others are former versions, and their own keys are deleted."""
        kind = RecordKind(
            "A", "", (RecordField("of"),), rerank="of", identity=lambda it: it["of"], history=True
        )
        async with self.opened() as state:
            journal = state.journal
            for number in range(3):
                await put(journal, Entry("A", f"event {number}", {"of": "x", "n": number}))
            await put(journal, Entry("B", "event 0", {"of": "x"}), Entry("A", "y", {"of": "y"}))
            await journal.fold([kind])
            assert await journal.keys("A", "w") == ["x", "y"]
            assert await journal.keys("B", "w") == ["event 0"]
            assert [(it.fields or {})["n"] for it in await journal.former("w", "A", "x")] == [1, 0]
            await put(journal, Entry("A", "event 0", {"of": "x"}))
            await journal.fold([kind])
            assert await journal.keys("A", "w") == ["event 0", "x", "y"]

    async def test_touched_records_are_seen_again(self) -> None:
        """Unchanged, under new numbers; a missing one is none."""
        async with self.opened() as state:
            journal = state.journal
            entries = Entry("A", "a", {"x": 1}), Entry("A", "b", {}), Entry("A", "c", None)
            last = await put(journal, *entries)
            before = {it.key: it for it in await journal.changes(0)}
            await journal.touch([("w", "A", "a"), ("w", "A", "none"), ("w", "A", "c")])
            again = await journal.changes(last)
            assert [it.key for it in again] == ["a", "c"]
            for it in again:
                old = before[it.key]
                assert (it.fields, it.created_at) == (old.fields, old.created_at)
            assert await journal.count() == len(entries)

    @pytest.mark.parametrize(("written", "cursor"), [(0, 0), (0, 5), (3, 2), (3, 3), (3, 9)])
    async def test_it_continues_after_a_store_that_is_ahead(
        self, written: int, cursor: int
    ) -> None:
        """Order stays, numbers go on above the cursor, once."""
        async with self.opened() as state:
            journal = state.journal
            for number in range(written):
                await put(journal, Entry("A", str(number), {}))
            before = await journal.changes(0)
            for _ in range(2):
                await journal.continue_after(cursor)
            after = await journal.changes(0)
            assert [it.key for it in after] == [it.key for it in before]
            least = cursor if written < cursor else 0
            assert all(it.seq > least for it in after)
            assert written < cursor or [it.seq for it in after] == [it.seq for it in before]
            new = await put(journal, Entry("A", "new", {}))
            assert new > max([cursor, *(it.seq for it in after)])

    async def test_records_of_a_store_are_recovered_unless_they_are_known_better(self) -> None:
        """They come back as they were, with the time that they have."""
        async with self.opened() as state:
            journal = state.journal
            await put(journal, Entry("A", "here", {"x": 1}), Entry("A", "deleted", None))
            lost = StoredRecord("A", "lost", {"x": 2, "created_at": TIMES[0]}, {"tool": "t"})
            others = [StoredRecord("A", key, {"x": 0}) for key in ("here", "deleted")]
            assert await journal.recover("w", [lost, *others]) == [lost]
            assert await journal.recover("w", [lost]) == []
            found = {it.key: it for it in await journal.changes(0)}
            assert found["lost"].fields == dict(lost.fields)
            assert (found["lost"].created_at, found["lost"].provenance) == (TIMES[0], {"tool": "t"})
            assert (found["here"].fields, found["deleted"].fields) == ({"x": 1}, None)

    async def test_artifacts_are_pinned_by_the_records_that_name_them(self) -> None:
        """As they are now: merged, replaced, recovered; not by former or deleted ones."""
        kind = RecordKind(
            "A", "", (RecordField("files", "text[]"),), "files", history=True, pins="files",
            identity=str,
        )  # fmt: skip
        cover = RecordKind("B", "", (RecordField("cover"),), "cover", pins="cover")
        names = [f"{number:064x}.png" for number in range(4)]
        one, two, three, four = (f"vr://artifacts/{name}" for name in names)
        async with self.opened() as state, self.again(state) as other:
            journal = state.journal

            async def pinned() -> set[tuple[str, int]]:
                found = await journal.pins()
                assert await other.journal.pins() == found
                return {(it.workspace, names.index(it.name)) for it in found}

            journal.declare([kind, cover])
            assert await pinned() == set()
            several = Entry("A", "a", {"files": [one, two, "file:///none"], "text": three})
            await put(journal, several, Entry("B", "b", {"cover": one}), Entry("C", "c", {"x": 4}))
            await put(journal, Entry("B", "b", {"cover": f"{two}#page=3"}), workspace="v")
            assert await pinned() == {("w", 0), ("w", 1), ("v", 1)}
            await put(journal, Entry("A", "a", {"text": ""}, merge=True))
            await put(journal, Entry("B", "b", {"cover": [3]}), workspace="v")
            assert await pinned() == {("w", 0), ("w", 1)}
            await put(journal, Entry("A", "a", {"files": [three]}, history=True))
            assert await pinned() == {("w", 0), ("w", 2)}
            await put(journal, Entry("B", "b", None), Entry("A", "a", {"files": None}, merge=True))
            assert await pinned() == set()
            await journal.recover("w", [StoredRecord("B", "lost", {"cover": four})])
            assert await pinned() == {("w", 3)}

    async def test_questions_about_what_is_there(self) -> None:
        """Deleted records count for none of them."""
        async with self.opened() as state:
            journal = state.journal
            mine: Any = {"provenance": {"plugin": "mine"}}
            await put(journal, *(Entry("A", str(n), {}) for n in range(3)), **mine)
            await put(journal, Entry("A", "z", {}), Entry("B", "b", {}), Entry("C", "c", None))
            await put(journal, Entry("A", "other", {}), Entry("B", "gone", None), workspace="v")
            assert await journal.has("w", [("A", "0"), ("B", "b")])
            assert await journal.has("w", [])
            for record in (("C", "c"), ("A", "other"), ("none", "0")):
                assert not await journal.has("w", [("A", "0"), record])
            (unknown,) = await journal.undeclared("w", {"B"})
            assert (unknown.kind, unknown.count, unknown.plugins) == ("A", 4, ("mine", ""))
            assert await journal.undeclared("none", ()) == []
            assert await journal.elsewhere("w", ()) == {"v": 1}
            assert await journal.elsewhere("none", ["A", "C"]) == {"v": 1, "w": 4}
            assert await journal.elsewhere("w", ["B"]) == {}

    async def test_a_store_can_follow_it(self) -> None:
        """It knows its own numbers from others, and lacks nothing that it never had."""
        async with self.opened() as state:
            journal = state.journal
            here = await journal.continuity.attended()
            assert here.journal == journal.continuity.journal != ""
            await put(journal, Entry("A", "a", {}))
            here = await journal.continuity.attended()
            (change,) = await journal.changes(0)
            assert here == Position(here.journal, change.opening, change.seq)
            assert await journal.continuity.covers(here)
            ahead = Position(here.journal, here.opening, here.seq + 5)
            assert not await journal.continuity.covers(ahead)
            assert not await journal.continuity.covers(Position("another", "its own", 1))
            assert await journal.continuity.begun() == 0
            assert await journal.continuity.is_readable()
            assert await journal.continuity.look() is None
            assert journal.continuity.refusal is None
            assert await journal.continuity.lacks() == ""
            assert not await journal.continuity.lacks_any([here])
            assert await journal.continuity.missing([here]) == 0
            await journal.continuity.diverge(ahead)
            assert await put(journal, Entry("A", "b", {})) > ahead.seq

    async def test_it_has_one_home(self) -> None:
        """Every handle names the same, before and after the first record."""
        async with self.opened() as state, self.again(state) as other:
            homes = {await state.journal.home(), await other.journal.home()}
            await put(state.journal, Entry("A", "a", {}))
            homes |= {await state.journal.home(), await other.journal.home()}
            assert len(homes) == 1
            assert homes != {""}


async def put(
    journal: JournalTable, *entries: Entry, workspace: str = "w", provenance: Any = None
) -> int:
    """Commit entries; returns the highest number."""
    return await journal.commit(entries, workspace=workspace, provenance=provenance or {})
