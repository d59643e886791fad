"""The index of the journal by kind."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection, Iterator
from contextlib import closing
from pathlib import Path

import pytest
from vr_kernel.state import Entry
from vr_kernel.state.sqlite.journal.journal import SqliteJournal
from vr_kernel.state.sqlite.journal.reading import Choice
from vr_testing.contracts.state.journal_records import put


@pytest.fixture
def journal(tmp_path: Path) -> Iterator[SqliteJournal]:
    with closing(SqliteJournal(tmp_path / "journal.db")) as journal:
        yield journal


def _plan(path: Path, kinds: Collection[str], workspace: str | None = None) -> list[str]:
    statement, values = Choice(kinds, workspace).statement(0, 500, indexed=True)
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute(f"EXPLAIN QUERY PLAN {statement}", values)
        return [row[3] for row in rows]


@pytest.mark.parametrize("workspace", [None, "w"])
@pytest.mark.parametrize("kinds", [["A"], ["A", "B", "C"]])
async def test_changes_of_some_kinds_are_found_by_an_index(
    journal: SqliteJournal, kinds: list[str], workspace: str | None
) -> None:
    """It has all that is looked at, kinds are merged in its order, and nothing is sorted."""
    await put(journal, Entry("A", "a", {}))
    plan = _plan(journal.path, kinds, workspace)
    lookup = "SEARCH record USING COVERING INDEX record_by_kind (kind=? AND seq>?)"
    assert plan.count(lookup) == len(kinds)
    reads = [step for step in plan if "record" in step and step != lookup]
    assert reads == ["SEARCH record USING INTEGER PRIMARY KEY (rowid=?)"]
    assert not any("TEMP" in step for step in plan)


async def test_an_older_file_gets_the_index_when_it_is_written(tmp_path: Path) -> None:
    """Until then it is read without it, and with the same result; reading adds nothing."""
    path = tmp_path / "journal.db"
    with closing(SqliteJournal(path)) as journal:
        await put(journal, *(Entry("AB"[n % 2], str(n), {}) for n in range(20)))
    with closing(sqlite3.connect(path)) as connection:
        connection.execute("DROP INDEX record_by_kind")
    with closing(SqliteJournal(path)) as journal:
        before = await journal.changes(4, 5, ["B"])
        assert [change.key for change in before] == ["5", "7", "9", "11", "13"]
        assert "record_by_kind" not in _indexes(path)
        await put(journal, Entry("B", "new", {}))
        assert [it.key for it in await journal.changes(4, 50, ["B"], "w")][-1] == "new"
        assert await journal.changes(4, 5, ["B"]) == before
    assert "record_by_kind" in _indexes(path)


def _indexes(path: Path) -> list[str]:
    with closing(sqlite3.connect(path)) as connection:
        rows = connection.execute("SELECT name FROM sqlite_master WHERE type='index' AND sql <> ''")
        return [name for (name,) in rows]
