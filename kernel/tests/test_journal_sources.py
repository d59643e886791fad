"""Sources in files of an earlier version, and through a whole kernel."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel
from vr_kernel import (
    WRITES_LOCAL,
    Call,
    Record,
    RecordField,
    RecordKind,
    entity_key,
    hookimpl,
    tool,
)
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_testing import open_kernel
from vr_testing.contracts.state.journal_records import put

PAGES = RecordKind(
    "Pages",
    "Pages.",
    (RecordField("address"), RecordField("title"), RecordField("text", searchable=True)),
    rerank="text",
    source="address",
    title="title",
)
TABLES = ("sourced", "source", "source_kind", "source_role")
FOREIGN = (
    "INSERT OR REPLACE INTO record (workspace, kind, key, fields, provenance, created_at)"
    " VALUES ('w', 'Pages', ?, ?, '{}', '2026-01-01T00:00:00.000000+00:00')"
)


def _page(key: str, address: str, title: str = "") -> Entry:
    return Entry("Pages", key, {"address": address, "title": title})


async def _told(journal: SqliteJournal) -> dict[str, tuple[str, int]]:
    """The title of each source, and the number of its records."""
    return {it.source: (it.title, sum(it.kinds.values())) for it in await journal.sources("w")}


async def _made(path: Path, *entries: Entry) -> None:
    """Make a journal as an earlier version did."""
    with closing(SqliteJournal(path)) as journal:
        await put(journal, *entries)
    with closing(sqlite3.connect(path, isolation_level=None)) as connection:
        for table in TABLES:
            connection.execute(f"DROP TABLE {table}")


@pytest.mark.parametrize("written", [False, True])
async def test_sources_of_an_older_file(tmp_path: Path, *, written: bool) -> None:
    """They are found once, whether it is read or written first; damaged records have none."""
    path = tmp_path / "journal.db"
    await _made(path, _page("1", "a", "A"), _page("2", "a"), _page("3", "b", "B"), _page("4", "c"))
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE record SET fields = '{\"address\": \"c' WHERE key = '4'")
    with closing(SqliteJournal(path)) as journal:
        journal.declare([PAGES])
        if written:
            await put(journal, _page("2", "b"), _page("new", "b", "New"))
            assert await _told(journal) == {"a": ("A", 1), "b": ("New", 3)}
        else:
            assert await _told(journal) == {"a": ("A", 2), "b": ("B", 1)}
    with closing(SqliteJournal(path)) as journal:  # what has no declaration now is there
        assert await _told(journal) != {}


async def test_records_of_an_earlier_version_beside_this_one(tmp_path: Path) -> None:
    """It writes without a thought for sources, between two writes and before a reading."""
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path)) as journal:
        journal.declare([PAGES])
        await put(journal, _page("1", "a", "A"), _page("2", "a"), _page("3", "c"))
        for key, address in (("1", "b"), ("3", "b")):
            with closing(sqlite3.connect(path)) as other, other:
                fields = f'{{"address": "{address}", "title": "by others"}}'
                other.execute(FOREIGN, (key, fields))
            if key == "1":
                await put(journal, _page("2", "a", "again"))
        assert await _told(journal) == {"b": ("by others", 2), "a": ("again", 1)}
        name = entity_key("source", "b")
        assert [it.key for it in await journal.of_source("w", name)] == ["1", "3"]


class Saved(BaseModel):
    """Number of pages that were saved."""

    number: int


@tool(effects=WRITES_LOCAL)
async def pages_save(call: Call, address: str, titles: list[str]) -> Saved:
    """Record a page for each title."""
    made = [{"address": address, "title": title, "text": title} for title in titles]
    call.record(*(Record("Pages", fields, key=fields["title"]) for fields in made))
    return Saved(number=len(made))


class Pages:
    """A plugin that records pages."""

    @hookimpl
    def vr_tools(self) -> list[Any]:
        return [pages_save]

    @hookimpl
    def vr_record_kinds(self) -> list[RecordKind]:
        return [PAGES]


async def test_sources_of_what_a_plugin_records(tmp_path: Path) -> None:
    """Through calls and the archive; and without the plugin, once it is removed."""
    async with open_kernel({"pages": Pages()}, folder=tmp_path) as kernel:
        await kernel.call("pages_save", address="a", titles=["one", "two"])
        services = kernel.services
        place, archive = services.workspace, services.archive
        await archive.add(
            [Record("Pages", {"address": "b", "title": "B"}, key="b")], origin="import"
        )
        await archive.forget([("Pages", "two")], origin="import")
        found = await services.journal.sources(place)
        assert [(it.source, it.title, it.kinds) for it in found] == [
            ("b", "B", {"Pages": 1}),
            ("a", "one", {"Pages": 1}),
        ]
    async with open_kernel({}, folder=tmp_path) as kernel:
        journal = kernel.services.journal
        assert await journal.sources(place) == found
        (record,) = await journal.of_source(place, entity_key("source", "a"))
        assert record == await journal.record(place, "Pages", "one")
        await kernel.services.archive.forget([("Pages", "one")], origin="clean-up")
        assert [it.source for it in await journal.sources(place)] == ["b"]
