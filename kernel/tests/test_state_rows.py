"""Rows: JSON that registries and plugins keep, in a SQLite file and in memory."""

from __future__ import annotations

import shutil
import sqlite3
from collections.abc import Iterator, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest
from ledger_state import ledger_state
from vr_kernel.errors import VrError
from vr_kernel.jobs.leases import LedgerLeases
from vr_kernel.state import Adopted, AdoptingRows, Place, Put, adopt_file
from vr_kernel.state.sqlite.ledger import open_ledger
from vr_kernel.state.sqlite.rows import SqliteRows

PLACE = Place("diary")


async def test_rows_outlive_their_process(tmp_path: Path) -> None:
    for number in range(2):
        with closing(SqliteRows(tmp_path / "rows.db")) as space:
            await space.of(PLACE).put(f"day/{number}", number)
            assert [row.value for row in await space.of(PLACE).list()] == [*range(number + 1)]


async def test_an_index_that_cannot_be_used_takes_no_rows_away(tmp_path: Path) -> None:
    """A killed process leaves its rows in the log, and somebody spoils the index beside it."""
    told: list[VrError] = []
    (tmp_path / "left").mkdir()
    path, spoiled = tmp_path / "left" / "rows.db", tmp_path / "left" / "rows.db-shm"
    with closing(SqliteRows(tmp_path / "rows.db")) as space:
        await space.of(PLACE).put("a", 1)
        for name in ("rows.db", "rows.db-wal"):
            shutil.copy(tmp_path / name, path.with_name(name))
    spoiled.mkdir()
    with closing(SqliteRows(path, told.append)) as space, pytest.raises(VrError):
        await space.of(PLACE).put("b", 2)
    spoiled.rmdir()
    with closing(SqliteRows(path)) as space:
        assert [row.key for row in await space.of(PLACE).list()] == ["a"]
    assert not told


async def test_damaged_rows_are_left_out_and_told_once(tmp_path: Path) -> None:
    told: list[VrError] = []
    with closing(SqliteRows(tmp_path / "rows.db", told.append)) as space:
        rows = space.of(PLACE)
        for key in ("a", "b", "c", "d"):
            await rows.put(key, key)
        with closing(sqlite3.connect(tmp_path / "rows.db")) as connection, connection:
            connection.execute("UPDATE entry SET value = '{' WHERE key = 'a'")
            connection.execute("UPDATE entry SET value = CAST(x'ff22' AS TEXT) WHERE key = 'b'")
            connection.execute("UPDATE entry SET expires_at = 'soon' WHERE key = 'c'")
        for _ in range(2):
            assert [row.key for row in await rows.list()] == ["d"]
            assert await rows.get("a") is None
        assert len(told) == 3
        await rows.put("a", 2)
        assert [row.value for row in await rows.list()] == [2, "d"]


async def test_a_former_file_is_taken_over_once(tmp_path: Path) -> None:
    """Rows that exist stay, damaged ones are left out, and what was begun is finished."""
    told: list[VrError] = []
    former, ledger = tmp_path / "diary.db", open_ledger(tmp_path / "jobs.db")
    with closing(sqlite3.connect(former)) as connection, connection:
        connection.execute("CREATE TABLE day (name TEXT, mood TEXT, owner TEXT)")
        days = [(f"{number:03}", "fine", "ann") for number in range(1200)]
        connection.executemany("INSERT INTO day VALUES (?,?,?)", days)
        connection.execute("INSERT INTO day VALUES (CAST(x'ff' AS TEXT), 'gone', 'ann')")

    def adopt(row: Mapping[str, Any]) -> Iterator[Adopted]:
        yield Adopted(Put(f"day/{row['name']}", {"mood": row["mood"]}), "home", row["owner"])

    with closing(SqliteRows(tmp_path / "rows.db")) as space, closing(ledger):
        rows, leases = space.of(PLACE), LedgerLeases(ledger_state(ledger, lease_s=30))
        await rows.within("home", "ann").put("day/003", "mine")
        for _ in range(2):
            await adopt_file(former, rows, leases, {"day": adopt, "night": adopt}, told.append)
        found = await rows.within("home", "ann").list(limit=2000)
        assert len(found) == 1200
        assert [row.value for row in found[2:4]] == [{"mood": "fine"}, "mine"]
        assert [path.name for path in tmp_path.glob("diary*")] == ["diary.db.adopted"]  # noqa: ASYNC240
        assert len(told) == 1
        former.write_bytes(b"no database" * 100)
        await adopt_file(former, rows, leases, {"day": adopt}, told.append)
        assert len(told) == 2
        assert not former.exists()
        await leases.aclose()


async def test_what_cannot_be_taken_over_holds_up_nothing(tmp_path: Path) -> None:
    """A file that cannot be read now is told once and tried again; a bad row is left out."""
    told: list[VrError] = []
    former, ledger = tmp_path / "diary.db", open_ledger(tmp_path / "jobs.db")

    def adopt(row: Mapping[str, Any]) -> Iterator[Adopted]:
        yield Adopted(Put(row["name"], "x" * int(row["size"])))

    with closing(SqliteRows(tmp_path / "rows.db")) as space, closing(ledger):
        leases = LedgerLeases(ledger_state(ledger, lease_s=30))
        rows = AdoptingRows(
            former, lambda: space.of(PLACE), leases, lambda: {"day": adopt}, told.append
        )
        former.mkdir()
        for _ in range(2):
            assert await (await rows.opened()).list() == []
        assert [error.category for error in told] == ["STATE_UNAVAILABLE"]
        former.rmdir()
        with closing(sqlite3.connect(former)) as connection, connection:
            connection.execute("CREATE TABLE day (name TEXT, size)")
            days = [
                ("good", 1),
                ("no\0key", 1),
                ("vast", 2_000_000),
                ("no number", "x"),
                ("last", 1),
            ]
            connection.executemany("INSERT INTO day VALUES (?,?)", days)
        assert [row.key for row in await (await rows.opened()).list()] == ["good", "last"]
        assert len(told) == 4
        assert not former.exists()
        await leases.aclose()
