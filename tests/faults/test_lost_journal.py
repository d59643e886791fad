"""A journal that is emptied, deleted, older or foreign: told, and nothing is lost for it."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from lost_journal import (
    CONCEPTS,
    RECORDS,
    WAYS,
    delete,
    each_loss,
    examined,
    find,
    opened,
    put_foreign,
    record,
    rename_over,
    truncate,
)


@each_loss
async def test_it_is_told_and_what_comes_is_kept(
    folder: Path, lose: Callable[[Path], None], word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    """The log says it once; results say it while it lasts; all of before and since is found."""
    lose(folder)
    capfd.readouterr()
    async with opened(folder) as kernel:
        told = await record(kernel, "new")
        assert all(way in told[0] for way in WAYS)
        assert word in told[0]
        found, notes = await find(kernel)
        assert set(map(str, range(RECORDS))) | {"new"} <= found
        assert any(word in note for note in notes)
    assert capfd.readouterr().err.count("begin-anew") == 1
    async with opened(folder) as kernel:
        found, notes = await find(kernel)
        assert any(word in note for note in notes), "also for the next process"
        await record(kernel, "newer")
        assert {"new", "newer"} <= (await find(kernel))[0]


@each_loss
async def test_doctor_names_it_before_and_after_anybody_looked(
    folder: Path, lose: Callable[[Path], None], word: str
) -> None:
    async with opened(folder) as kernel:
        assert {level for level, _ in (await examined(kernel)).values()} == {"ok"}
    lose(folder)
    files = {path: path.read_bytes() for path in (folder / "state").glob("*.db")}
    async with opened(folder) as kernel:
        found = await examined(kernel)
        assert {level for level, _ in found.values()} == {"fault"}
        assert word in found["journal"][1]
        assert all(all(way in text for way in WAYS) for _, text in found.values())
    assert files == {path: path.read_bytes() for path in (folder / "state").glob("*.db")}
    async with opened(folder) as kernel:
        await record(kernel, "new")
        await find(kernel)
        assert {level for level, _ in (await examined(kernel)).values()} == {"fault"}


async def test_a_foreign_journal_is_not_called_deleted_where_the_ledger_is_lost(
    folder: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    (folder / "state" / "jobs.db").unlink()
    put_foreign(folder)
    async with opened(folder) as kernel:
        (note,) = (await find(kernel))[1]
        assert "deleted or replaced" in note
    assert capfd.readouterr().err.count("begin-anew") == 1


RUNNING = pytest.mark.parametrize(
    ("lose", "word"),
    [
        pytest.param(truncate, "emptied"),
        pytest.param(rename_over, "older"),
        pytest.param(delete, "deleted", marks=pytest.mark.slow),
        pytest.param(put_foreign, "foreign", marks=pytest.mark.slow),
    ],
    ids=["cut", "renamed over", "deleted", "foreign"],
)


@RUNNING
async def test_it_is_noticed_while_a_kernel_has_it_open(
    folder: Path, lose: Callable[[Path], None], word: str, capfd: pytest.CaptureFixture[str]
) -> None:
    async with opened(folder) as kernel:
        assert await record(kernel, "last") == ()
        assert (await find(kernel))[1] == []
        capfd.readouterr()
        lose(folder)
        found, notes = await find(kernel)
        assert set(map(str, range(RECORDS))) | {"last"} <= found
        assert word in notes[0]
        assert word in (await record(kernel, "new"))[0]
        assert {"last", "new"} <= (await find(kernel))[0]
    assert capfd.readouterr().err.count("begin-anew") == 1
    async with opened(folder) as kernel:
        assert await kernel.services.journal.keys(CONCEPTS, "default")
        assert {"last", "new"} <= (await find(kernel))[0]


async def test_what_the_store_has_is_counted_while_the_journal_is_damaged(folder: Path) -> None:
    journal = folder / "state" / "journal.db"
    journal.write_bytes(b"garbage!" + journal.read_bytes()[8:])
    async with opened(folder) as kernel:
        stats = await kernel.call("knowledge_stats")
        assert stats.total == RECORDS
        (note,) = stats.notes
        assert "is damaged" in note
