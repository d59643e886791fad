"""The searches of every store: a part of its contract."""

from __future__ import annotations

import asyncio
from abc import ABC
from collections.abc import AsyncIterator, Awaitable
from contextlib import asynccontextmanager
from pathlib import Path

from vr_kernel.errors import Code, VrError
from vr_kernel.stores import Filter, Query, SearchMode, Store

from vr_testing.contracts.outcomes import failure
from vr_testing.contracts.provider import ProviderContract
from vr_testing.contracts.store_samples import CARDS, NOTES, History, ask, found, keys

MODES: tuple[SearchMode, ...] = ("keyword", "semantic", "hybrid")
FILTERED = {
    "a": {"source": "v1", "stars": 1, "start": 0.5, "done": True, "tags": ["red", "blue"]},
    "b": {"source": "v_", "stars": 2, "start": 1.5, "done": False, "tags": ["red"]},
    "c": {"source": "v%", "stars": 3, "start": 2.5, "done": True, "tags": ["reddish"]},
    "d": {"source": 'it\'s "v1"; --', "stars": 10, "start": -1.0, "done": False, "tags": ["*"]},
}
FILTERS: tuple[tuple[Filter, str], ...] = (
    (Filter("source", "=", "v1"), "a"),
    (Filter("source", "=", "v_"), "b"),
    (Filter("source", "=", "v%"), "c"),
    (Filter("source", "=", 'it\'s "v1"; --'), "d"),
    (Filter("source", "=", "v*"), ""),
    (Filter("source", "=", ""), ""),
    (Filter("source", "!=", "v1"), "bcd"),
    (Filter("source", "in", ["v1", "v%", "x"]), "ac"),
    (Filter("source", "in", []), ""),
    (Filter("source", "contains", "v1"), "ad"),
    (Filter("source", "contains", "%"), "c"),
    (Filter("stars", "=", 2), "b"),
    (Filter("stars", "<", 3), "ab"),
    (Filter("stars", "<=", 3), "abc"),
    (Filter("stars", ">", 2), "cd"),
    (Filter("stars", ">=", 10), "d"),
    (Filter("start", "<", 1.5), "ad"),
    (Filter("done", "=", True), "ac"),
    (Filter("done", "!=", True), "bd"),
    (Filter("tags", "contains", "red"), "ab"),
    (Filter("tags", "contains", "*"), "d"),
    (Filter("due", "<", "2026-03-01"), "ab"),
    (Filter("due", ">=", "2026-03-10"), "cd"),
)
ODD_QUESTIONS = (
    *("", " ", "the", "'", '"', "*", "fox*", "fox AND", "NOT fox", "NEAR(fox owl)", "text:fox"),
    *("(", "fox OR (", "-fox", "\x00", "🦊", "% _", "; DROP TABLE item; --", "fox " * 5_000),
)


class StoreSearchContract(ProviderContract[Store], ABC):
    """The tests of a store's answers; `StoreContract` has them too."""

    kind = Store

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[Store]:
        """The store of a new kernel, opened with two kinds, and closed by that kernel."""
        async with super().opened(folder) as store:
            await store.open([NOTES, CARDS])
            yield store

    async def test_best_hits_come_first(self) -> None:
        """Scores fall, over all kinds; a keyword search leaves out records that do not match."""
        history = History()
        history.cards(half="a fox at night", none="violin and cello", whole="fox and owl")
        history.write(NOTES, "note", {"title": "owl", "text": "a long note about the fox, too"})
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                hits = await store.search(await ask("fox owl", mode))
                scores = [hit.score for hit in hits]
                assert scores == sorted(scores, reverse=True), f"{mode}: {scores}"
                order = [key for key in keys(hits) if key in ("whole", "half")]
                assert order == ["whole", "half"], f"{mode}: {keys(hits)}"
            assert set(await found(store, "fox owl")) == {"half", "whole", "note"}

    async def test_a_limit_counts_per_kind(self) -> None:
        """At most so many of each kind; none for 0."""
        history = History()
        for number in range(5):
            history.write(NOTES, f"n{number}", {"text": "fox " * (number + 1)})
            history.write(CARDS, f"c{number}", {"text": f"fox {number}"})
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                got = await found(store, "fox", mode, limit=2)
                assert sorted(key[0] for key in got) == ["c", "c", "n", "n"], f"{mode}: {got}"
                assert await found(store, "fox", mode, limit=0) == [], mode

    async def test_only_the_kinds_asked_for_answer(self) -> None:
        """An undeclared kind has no records."""
        history = History()
        history.cards(card="fox")
        history.write(NOTES, "note", {"text": "fox"})
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                assert set(await found(store, "fox", mode)) == {"card", "note"}, mode
                assert await found(store, "fox", mode, kinds=(CARDS.name,)) == ["card"], mode
                assert await found(store, "fox", mode, kinds=("NoSuchKind",)) == [], mode

    async def test_filters_are_taken_literally(self) -> None:
        """No value is read as a pattern or as code; all filters hold at once."""
        history = _filtered()
        async with self.opened() as store:
            await history.deliver(store)
            for wanted, expected in FILTERS:
                for mode in MODES:
                    got = "".join(sorted(await found(store, "fox", mode, wanted)))
                    assert got == expected, f"{mode} {wanted}: {got or 'nothing'}"
            both = (Filter("stars", ">", 1), Filter("done", "=", True))
            assert await found(store, "fox", "keyword", *both) == ["c"]

    async def test_what_a_filter_cannot_hold_for_is_left_out(self) -> None:
        """A kind without the field has no hits, and a value of another type is no crash."""
        history = _filtered()
        history.cards(card="fox")
        async with self.opened() as store:
            await history.deliver(store)
            assert await found(store, "fox", "keyword", Filter("drawer", "=", "x")) == []
            assert await found(store, "fox", "keyword", Filter("stars", "=", 1)) == ["a"]
            assert await found(store, "fox", "keyword", Filter("no_field", "=", 1)) == []
            other_type = found(store, "fox", "keyword", Filter("stars", "=", "many"))
            assert await _answer_or_refusal(other_type) in ([], Code.INVALID_INPUT)

    async def test_a_lenient_search_drops_what_cannot_hold(self) -> None:
        """A kind without the field is searched without that condition, and with the others."""
        history = History()
        history.cards(card="fox")
        history.write(NOTES, "right", {"text": "fox", "source": "v1"})
        history.write(NOTES, "wrong", {"text": "fox", "source": "v2"})
        wanted = (Filter("source", "=", "v1"), Filter("source_tool", "!=", "nobody"))
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                got = await found(store, "fox", mode, *wanted, lenient=True)
                assert set(got) == {"card", "right"}, f"{mode}: {got}"

    async def test_odd_questions_are_answered(self) -> None:
        """Nothing that a person may type is run as code, or makes the store fail."""
        history = History()
        history.cards(a="fox", b="owl")
        async with self.opened() as store:
            await history.deliver(store)
            for text in ODD_QUESTIONS:
                for mode in MODES:
                    assert isinstance(await found(store, text, mode), list)
            assert await found(store, "") == []
            assert await found(store, "zebra") == []

    async def test_meaning_is_found_by_vector(self) -> None:
        """The nearest first, by the vector alone, with no word in common."""
        history = History()
        history.cards(far="violin cello drum", near="fox owl bear", nearer="fox owl lynx")
        async with self.opened() as store:
            await history.deliver(store)
            (vector,) = [(await ask("fox owl lynx", "semantic")).vector]
            hits = await store.search(Query("zebra", vector, "semantic"))
            assert keys(hits) == ["nearer", "near", "far"]
            assert (await found(store, "fox", "hybrid"))[-1] == "far"

    async def test_a_vector_of_another_length_is_refused(self) -> None:
        """It raises INVALID_INPUT, since it comes from another embedder."""
        async with self.opened() as store:
            error = await failure(store.search(Query("fox", [1.0, 0.0], "semantic")))
            assert error.code is Code.INVALID_INPUT, error

    async def test_kin_of_a_record_are_near_it(self) -> None:
        """Best first, without itself; a missing record has none."""
        history = History()
        history.cards(a="fox owl bear", far="violin cello drum", kin="fox owl lynx")
        history.write(CARDS, "other", {"text": "fox owl bear"}, workspace="other")
        history.write(NOTES, "note", {"text": "fox owl bear"})
        async with self.opened() as store:
            await history.deliver(store)
            assert keys(await store.near(CARDS.name, "a", "default", 9)) == ["kin", "far"]
            assert keys(await store.near(CARDS.name, "a", "default", 1)) == ["kin"]
            assert await store.near(CARDS.name, "nobody", "default", 9) == []

    async def test_records_are_counted(self) -> None:
        """In total under the empty name, or by a field's value; an unknown field is refused."""
        history = _filtered()
        history.write(NOTES, "e", {"source": "v1"}, workspace="other")
        async with self.opened() as store:
            await history.deliver(store)
            assert await store.count(NOTES.name, "default") == {"": 4}
            assert await store.count(CARDS.name, "default") == {"": 0}
            by_source = await store.count(NOTES.name, "default", "source")
            assert by_source == {str(fields["source"]): 1 for fields in FILTERED.values()}
            by_tag = await store.count(NOTES.name, "default", "tags")
            assert by_tag == {"red": 2, "blue": 1, "reddish": 1, "*": 1}
            error = await failure(store.count(NOTES.name, "default", "no_field"))
            assert error.code is Code.INVALID_INPUT, error

    async def test_a_question_has_one_answer(self) -> None:
        """The same each time, also for records of equal score and for concurrent searches."""
        history = History()
        history.cards(**{f"k{number}": "fox" for number in range(9)})
        async with self.opened() as store:
            await history.deliver(store)
            for mode in MODES:
                answers = await asyncio.gather(*(found(store, "fox", mode) for _ in range(5)))
                assert all(answer == answers[0] for answer in answers), mode


def _filtered() -> History:
    history = History()
    for month, (key, fields) in enumerate(FILTERED.items(), start=1):
        due = f"2026-{month:02d}-15T12:00:00Z"
        history.write(NOTES, key, {"text": "fox", "due": due, **fields})
    return history


async def _answer_or_refusal(answer: Awaitable[list[str]]) -> object:
    try:
        return await answer
    except VrError as error:
        return error.code
