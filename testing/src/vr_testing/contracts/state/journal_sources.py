"""The contract of sources: what the records of a journal are about, at any moment."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from typing import Any

import pytest
from vr_kernel import (
    Change,
    Position,
    RecordField,
    RecordKind,
    Source,
    StoredRecord,
    VrError,
    entity_key,
)
from vr_kernel.state import Entry, JournalTable

from vr_testing.contracts.state.part import PartContract

PAGES = RecordKind(
    "Pages",
    "Pages.",
    (RecordField("address"), RecordField("title"), RecordField("text")),
    rerank="text",
    source="address",
    title="title",
)
CLIPS = RecordKind(
    "Clips",
    "Clips.",
    (RecordField("address"), RecordField("title"), RecordField("number", "int")),
    rerank="title",
    source="address",
    identity=lambda of: f"clip {of.get('number', '')}",
    history=True,
)
NOTES = RecordKind("Notes", "Notes.", (RecordField("address"),), rerank="address")
KINDS = (PAGES, CLIPS, NOTES)
TIMES = tuple(f"202{year}-01-01T00:00:00.000000+00:00" for year in range(3))
STEPS, PAGE, MANY = 90, 4, 5000


class JournalSourcesContract(PartContract):
    """The tests of sources; `JournalContract` inherits them."""

    async def test_a_source_is_what_live_records_name(self) -> None:
        """It has their number, their times, and the last title of the kinds that give one."""
        async with self.opened() as state:
            journal = state.journal
            journal.declare(KINDS)
            assert await journal.sources("w") == []
            of = {"address": "a.html"}
            last = await put(
                journal,
                Entry("Pages", "1", {**of, "title": "First", "created_at": TIMES[1]}),
                Entry("Pages", "2", {**of, "title": "Second", "created_at": TIMES[0]}),
                Entry("Clips", "c", {**of, "title": "of a clip", "created_at": TIMES[2]}),
                Entry("Clips", "none", {"title": "of nothing"}),
                Entry("Notes", "n", of),
            )
            seq = last - 2
            kinds, name = {"Clips": 1, "Pages": 2}, entity_key("source", "a.html")
            source = Source(name, "a.html", "Second", kinds, TIMES[0], TIMES[2], seq)
            assert await journal.sources("w") == [source]
            assert await journal.source("w", name) == source
            assert await journal.source("v", name) is None
            assert await journal.source("w", "none") is None
            assert [it.key for it in await journal.of_source("w", name)] == ["1", "2", "c"]
            await put(journal, Entry("Pages", "2", None), Entry("Clips", "c", None))
            (source,) = await journal.sources("w")
            assert (source.title, source.kinds) == ("First", {"Pages": 1})
            assert (source.first_at, source.last_at) == (TIMES[1], TIMES[1])
            await put(journal, Entry("Pages", "1", {"title": " "}, merge=True))
            assert [it.title for it in await journal.sources("w")] == [""]
            await put(journal, Entry("Pages", "1", {**of, "address": "b.html"}))
            assert [it.source for it in await journal.sources("w")] == ["b.html"]
            await put(journal, Entry("Pages", "1", {"address": None}, merge=True))
            assert await journal.sources("w") == []

    async def test_sources_follow_whatever_is_written(self) -> None:
        """As if they were found anew in the live records, after each of many writes."""
        draw = random.Random(11)  # noqa: S311 - no secret
        async with self.opened() as state:
            journal = state.journal
            journal.declare(KINDS)
            for _ in range(STEPS):
                await _write(journal, draw)
                await _require_true(journal)
            await journal.fold(KINDS)
            await _require_true(journal)
            here = await journal.continuity.attended()
            ahead = Position(here.journal, here.opening, here.seq + 7)
            await journal.continuity.diverge(ahead)
            await _require_true(journal)
            await _write(journal, draw)
            await _require_true(journal)

    async def test_sources_follow_many_records_at_once(self) -> None:
        """New ones, such as replace others, and several with one key in the same commit."""
        async with self.opened() as state:
            journal = state.journal
            journal.declare(KINDS)
            for numbers, address in ((range(600), "a"), (range(300, 900), "b"), (range(20), "b")):
                of = {"address": address, "title": f"Title of {address}"}
                await put(journal, *(Entry("Pages", str(number), of) for number in numbers))
                await _require_true(journal)
            twice = [Entry("Pages", str(number % 400), {"address": "c"}) for number in range(700)]
            await put(journal, *twice)
            await _require_true(journal)
            clip = Entry("Clips", "twice", {"address": "d"}, history=True)
            await put(journal, clip, Entry("Pages", "between", {"address": "d"}), clip)
            await _require_true(journal)
            mixed = [
                Entry("Clips", str(number), {"address": f"{number % 3}"}) for number in range(700)
            ]
            await put(journal, *mixed)
            await _require_true(journal)

    async def test_sources_are_read_in_pages(self) -> None:
        """The last changed come first; with a kind, only those that have records of it."""
        async with self.opened() as state:
            journal = state.journal
            journal.declare(KINDS)
            for number in range(9):
                of = {"address": f"{number}.html"}
                await put(journal, Entry(("Pages", "Clips")[number % 2], f"{number}", of))
            await put(journal, Entry("Pages", "4", {"title": "again"}, merge=True))
            order = [f"{number}.html" for number in (4, 8, 7, 6, 5, 3, 2, 1, 0)]
            read: list[Source] = []
            while page := await journal.sources("w", read[-1].seq if read else None, PAGE):
                assert len(page) <= PAGE
                read += page
            assert [it.source for it in read] == order
            clips = await journal.sources("w", None, 2, "Clips")
            clips += await journal.sources("w", clips[-1].seq, kind="Clips")
            assert [it.source for it in clips] == ["7.html", "5.html", "3.html", "1.html"]
            assert await journal.sources("w", kind="none") == []
            assert await journal.sources("w", limit=0) == await journal.sources("v") == []

    async def test_records_of_a_source_are_read_in_pages(self) -> None:
        """Rising by number, whatever their kinds."""
        async with self.opened() as state:
            journal = state.journal
            journal.declare(KINDS)
            of, name = {"address": "a.html"}, entity_key("source", "a.html")
            kinds = ("Pages", "Clips")
            await put(journal, *(Entry(kinds[n % 2], str(n), of) for n in range(9)))
            read: list[Change] = []
            while page := await journal.of_source("w", name, read[-1].seq if read else 0, PAGE):
                assert len(page) <= PAGE
                read += page
            assert read == await journal.changes(0)
            assert [it.key for it in read] == [str(n) for n in range(9)]
            assert await journal.of_source("w", name, limit=0) == []
            assert await journal.of_source("v", name) == []

    async def test_a_record_is_read_by_its_key(self) -> None:
        """One that was deleted is none."""
        async with self.opened() as state:
            journal = state.journal
            await put(journal, Entry("A", "a", {"x": 1}), Entry("A", "gone", {}))
            await put(journal, Entry("A", "gone", None))
            (change, _) = await journal.changes(0)
            assert await journal.record("w", "A", "a") == change
            for place in (("w", "A", "gone"), ("v", "A", "a"), ("w", "B", "a")):
                assert await journal.record(*place) is None

    async def test_kinds_that_are_declared_later(self) -> None:
        """Records of before have sources then, by the fields that are named last."""
        async with self.opened() as state:
            journal = state.journal
            fields = {"address": "a.html", "title": "Title", "text": "Text"}
            await put(journal, Entry("Pages", "a", fields), Entry("Notes", "n", fields))
            assert await journal.sources("w") == []
            journal.declare([PAGES])
            assert [it.title for it in await journal.sources("w")] == ["Title"]
            journal.declare([replace(PAGES, title="text")])
            assert [it.title for it in await journal.sources("w")] == ["Text"]
            journal.declare([replace(PAGES, source="text"), replace(NOTES, source="address")])
            await put(journal, Entry("Pages", "b", fields))
            found = [(it.source, dict(it.kinds)) for it in await journal.sources("w")]
            assert found == [("Text", {"Pages": 2}), ("a.html", {"Notes": 1})]
            journal.declare([replace(PAGES, source=None)])
            assert [it.source for it in await journal.sources("w")] == ["a.html"]

    async def test_records_of_a_removed_plugin_keep_their_sources(self) -> None:
        """Others read them, and delete them, who know nothing of the kind."""
        async with self.opened() as state, self.again(state) as other:
            state.journal.declare(KINDS)
            of, name = {"address": "a.html", "title": "Title"}, entity_key("source", "a.html")
            await put(state.journal, Entry("Pages", "a", of), Entry("Pages", "b", of))
            assert [it.title for it in await other.journal.sources("w")] == ["Title"]
            await put(other.journal, Entry("Pages", "b", None), Entry("Others", "o", of))
            assert [dict(it.kinds) for it in await other.journal.sources("w")] == [{"Pages": 1}]
            assert [it.key for it in await other.journal.of_source("w", name)] == ["a"]
            await put(other.journal, Entry("Pages", "a", None))
            assert await state.journal.sources("w") == await other.journal.sources("w") == []

    async def test_what_is_not_written_changes_no_source(self) -> None:
        """A commit whose lease is gone, and one that fails half-way."""
        async with self.opened() as state:
            journal, of = state.journal, {"address": "a.html"}
            journal.declare(KINDS)
            await put(journal, Entry("Pages", "a", of))
            before = await journal.sources("w")
            token, _ = await state.leases.take("work") or (0, 0)
            await state.leases.release([token])
            late: Any = {"workspace": "w", "provenance": {}, "fence": token}
            with pytest.raises(VrError):
                await journal.commit([Entry("Pages", "b", {"address": "b.html"})], **late)
            with pytest.raises(TypeError):
                await put(journal, Entry("Pages", "a", None), Entry("Pages", "b", {"": {"set"}}))
            assert await journal.sources("w") == before


async def put(journal: JournalTable, *entries: Entry, workspace: str = "w") -> int:
    """Commit entries; returns the highest number."""
    return await journal.commit(entries, workspace=workspace, provenance={})


async def _write(journal: JournalTable, draw: random.Random) -> None:
    """Write in one of the ways in which a journal is written."""
    workspace, changes = draw.choice("wv"), await journal.changes(0, 1000)
    places = [(it.workspace, it.kind, it.key) for it in changes]
    last = changes[-1].seq if changes else 0
    entries = [_drawn(draw) for _ in range(draw.randint(1, 5))]
    plain = [it._replace(fields=it.fields or {}, merge=False, history=False) for it in entries]
    ways: Sequence[Callable[[], Any]] = (
        lambda: journal.touch(draw.choices(places, k=3) if places else []),
        lambda: journal.continue_after(last + draw.randint(-3, 3)),
        lambda: journal.recover(workspace, [_stored(draw), _stored(draw)]),
        lambda: put(journal, *entries, workspace=workspace),
        lambda: put(journal, *plain, workspace=workspace),
    )
    await draw.choices(ways, (1, 1, 1, 5, 4))[0]()


def _drawn(draw: random.Random) -> Entry:
    kind, fields, key = draw.choice(KINDS), _fields(draw), draw.choice("abcdef")
    merge = draw.choice([True, False])
    given = fields if merge else {name: it for name, it in fields.items() if it is not None}
    return Entry(kind.name, key, draw.choice([given, given, None]), {}, merge, kind.history)


def _fields(draw: random.Random) -> dict[str, Any]:
    choices: dict[str, list[Any]] = {
        "address": ["one", "two", "три", "", 7, None],
        "title": ["A title", "Another", " ", None],
        "created_at": [*TIMES],
    }
    some = draw.sample([*choices], draw.randint(0, 3))
    return {name: draw.choice(choices[name]) for name in some}


def _stored(draw: random.Random) -> StoredRecord:
    fields = {name: it for name, it in _fields(draw).items() if it is not None}
    return StoredRecord(draw.choice(KINDS).name, draw.choice("ghijk"), fields)


async def _require_true(journal: JournalTable) -> None:
    """Require that the sources of both workspaces are what their live records say."""
    changes = [it for it in await journal.changes(0, MANY) if it.fields is not None]
    for workspace in "wv":
        records: dict[str, list[Change]] = {}
        for change in changes:
            address = change.fields and change.fields.get("address")
            known = change.workspace == workspace and change.kind != NOTES.name
            if known and address and isinstance(address, str):
                records.setdefault(address, []).append(change)
        wanted = [_source(address, of) for address, of in records.items()]
        found = await journal.sources(workspace)
        assert found == sorted(wanted, key=lambda it: -it.seq)
        for source in found:
            assert (
                await journal.of_source(workspace, source.id, limit=MANY) == records[source.source]
            )


def _source(address: str, records: Sequence[Change]) -> Source:
    fields = [{"created_at": it.created_at, **(it.fields or {})} for it in records]
    times = [of["created_at"] for of in fields]
    pages = [of for it, of in zip(records, fields, strict=True) if it.kind == PAGES.name]
    titles = [str(of.get("title") or "") for of in pages]
    return Source(
        entity_key("source", address),
        address,
        next((it for it in reversed(titles) if it.strip()), ""),
        Counter(it.kind for it in records),
        min(times),
        max(times),
        records[-1].seq,
    )
