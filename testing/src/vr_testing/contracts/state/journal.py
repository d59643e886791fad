"""The contract of the journal: tests that the tests of each `JournalTable` inherit."""

from __future__ import annotations

import asyncio
import random
from collections.abc import Collection
from datetime import UTC, datetime, timedelta
from itertools import pairwise, product
from typing import Any

import pytest
from vr_kernel import Change, Code, VrError
from vr_kernel.state import Entry, JournalTable

from vr_testing.contracts.state.journal_records import JournalRecordsContract, put
from vr_testing.contracts.state.journal_sources import JournalSourcesContract

BAD_NAMES = {"nul": "a\0b", "half": "a\ud800"}
LETTERS = "a/_%é\U0001f600\ud7ff\ue000'\n\x01 "
COMMITS, PAGE = 40, 7


class JournalContract(JournalRecordsContract, JournalSourcesContract):
    """The tests of `vr_kernel.state.JournalTable`."""

    async def test_a_new_journal_is_empty(self) -> None:
        """It can be read and written."""
        async with self.opened() as state:
            journal = state.journal
            assert await journal.last_seq() == await journal.count() == 0
            assert await journal.changes(0) == []
            assert await journal.keys("A", "w") == []
            await journal.check()
            assert not journal.unwritable
            assert journal.left_out == 0

    async def test_it_has_the_newest_state_of_every_key(self) -> None:
        """As a dictionary has, in the order of the last changes, whatever the names."""
        draw = random.Random(5)  # noqa: S311 - no secret
        newest: dict[tuple[str, str, str], tuple[int, Any]] = {}
        async with self.opened() as state:
            journal = state.journal
            cursors = [0]
            for step in range(40):
                place = draw.choice(["", "one", "two"])
                written = [_drawn(draw) for _ in range(draw.randint(1, 6))]
                seq = await journal.commit(written, workspace=place, provenance={"step": step})
                assert seq == await journal.last_seq() > cursors[-1]
                cursors.append(seq)
                for entry in written:
                    newest[place, entry.kind, entry.key] = (step, entry.fields)
            for step, cursor in enumerate(cursors):
                changes = await _all(journal, cursor)
                found = {_place(it): (it.provenance["step"], it.fields) for it in changes}
                assert found == {k: state for k, state in newest.items() if state[0] >= step}
                assert await journal.count(cursor) == len(found)
            live = {place for place, (_, fields) in newest.items() if fields is not None}
            for kind, name in product("ABC", ("", "one", "two")):
                keys = [key for place, of, key in live if (place, of) == (name, kind)]
                assert await journal.keys(kind, name) == sorted(keys)

    async def test_numbers_never_come_back(self) -> None:
        """Not even when the newest record is the one that is replaced or deleted."""
        async with self.opened() as state:
            journal, seen = state.journal, [0]
            states: list[dict[str, Any] | None] = [{}, None] * 3
            for fields in states:
                await put(journal, Entry("A", "a", fields))
                seen.append(await journal.last_seq())
                await journal.aclose()
            assert all(one < other for one, other in pairwise(seen))
            assert [it.seq for it in await journal.changes(0)] == seen[-1:]

    async def test_a_change_says_where_and_when_it_was_made(self) -> None:
        """Provenance of all entries overrides what one has."""
        async with self.opened() as state:
            journal = state.journal
            entry = Entry("A", "ключ", {"text": "naïve \0 🎬"}, {"tool": "mine", "source": 1})
            seq = await put(journal, entry, provenance={"tool": "x_y"})
            (change,) = await journal.changes(0)
            assert (change.workspace, change.kind, change.key) == ("w", "A", "ключ")
            assert change.seq == seq
            assert change.fields == {"text": "naïve \0 🎬"}
            assert change.provenance == {"tool": "x_y", "source": 1}
            age = datetime.now(UTC) - datetime.fromisoformat(change.created_at)
            assert timedelta(0) <= age < timedelta(minutes=1)

    @pytest.mark.parametrize("name", BAD_NAMES.values(), ids=BAD_NAMES)
    async def test_names_that_not_every_journal_can_keep_are_refused(self, name: str) -> None:
        """With nothing written of their commit."""
        async with self.opened() as state:
            journal = state.journal
            for place, kind, key in ((name, "A", "a"), ("w", name, "a"), ("w", "A", name)):
                with pytest.raises(VrError) as error:
                    await put(journal, Entry("A", "b", {}), Entry(kind, key, {}), workspace=place)
                assert error.value.code is Code.INVALID_INPUT
            assert await journal.changes(0) == []
            assert await journal.last_seq() == 0

    async def test_a_commit_is_made_whole_or_not_at_all(self) -> None:
        """Values that are no JSON are found before anything is written."""
        async with self.opened() as state:
            journal = state.journal
            await put(journal, Entry("A", "kept", {}))
            with pytest.raises(TypeError):
                await put(journal, Entry("A", "two", {}), Entry("A", "kept", {"no": {"JSON"}}))
            assert [(it.key, it.fields) for it in await journal.changes(0)] == [("kept", {})]

    async def test_many_who_commit_at_once_lose_nothing(self) -> None:
        """By two handles: each commit has numbers of its own, and readers see it whole."""
        async with self.opened() as state, self.again(state) as other:
            handles = [state.journal, other.journal]

            async def write(number: int) -> int:
                entries = [Entry("A", f"{number} {part}", {}) for part in range(10)]
                return await put(handles[number % 2], *entries)

            reader, writing = other.journal, asyncio.gather(*map(write, range(COMMITS)))
            while not writing.done():
                assert len(await reader.changes(0, 1000)) % 10 == 0
                await asyncio.sleep(0)
            assert len({*await writing}) == COMMITS
            changes = await reader.changes(0, 1000)
            assert len(changes) == len({it.seq for it in changes}) == COMMITS * 10
            assert await reader.last_seq() == max(await writing)

    async def test_changes_of_some_kinds_and_of_one_workspace(self) -> None:
        """They are those that one would choose among all, page by page."""
        async with self.opened() as state:
            journal = state.journal
            names = [f"K{number}" for number in range(120)]
            draw = random.Random(3)  # noqa: S311 - no secret
            for _ in range(60):
                drawn = [(draw.choice(names), str(draw.randint(0, 9))) for _ in range(8)]
                entries = [Entry(*place, draw.choice([{}, None])) for place in drawn]
                await put(journal, *entries, workspace=draw.choice(["one", "two"]))
            everything = await journal.changes(0, 1000)
            choices = ((), ["K7"], {"K1", "K50", "none"}, ["K1", "K1"], names[:50], names)
            for kinds, place in product(choices, (None, "one", "none")):
                of_kinds = [it for it in everything if not kinds or it.kind in kinds]
                wanted = [it for it in of_kinds if place in (None, it.workspace)]
                assert await _all(journal, 0, kinds, place) == wanted


async def _all(
    journal: JournalTable, cursor: int, kinds: Collection[str] = (), workspace: str | None = None
) -> list[Change]:
    """Read all later changes, page by page, as a store does."""
    read: list[Change] = []
    while page := await journal.changes(cursor, PAGE, kinds, workspace):
        assert len(page) <= PAGE
        assert all(one < other for one, other in pairwise([cursor, *(it.seq for it in page)]))
        read += page
        cursor = page[-1].seq
    return read


def _drawn(draw: random.Random) -> Entry:
    key = "".join(draw.choices(LETTERS, k=draw.randint(1, 2)))
    fields = draw.choice([None, {}, {"": "\0é"}, {"x": [1, None, {"y": True}]}, {"z": 0.5}])
    return Entry(draw.choice("ABC"), key, fields)


def _place(change: Change) -> tuple[str, str, str]:
    return change.workspace, change.kind, change.key
