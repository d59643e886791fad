"""The table of vectors, in a SQLite file and in memory."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from vr_kernel import VrError
from vr_kernel.state.sqlite.vectors import SqliteVectors


async def test_a_damaged_vector_is_left_out_and_told_once(tmp_path: Path) -> None:
    told: list[VrError] = []
    with closing(SqliteVectors(tmp_path / "vectors.db", told.append)) as table:
        await table.keep("document", "a", {"d": b"1234", "e": b"5678"})
        with closing(sqlite3.connect(tmp_path / "vectors.db")) as connection, connection:
            connection.execute("UPDATE vector SET value = '1234' WHERE sha256 = 'd'")
        for _ in range(2):
            assert await table.known("document", "a", ["d", "e"], 4) == {"e": b"5678"}
    assert [error.message.count("vectors.db") for error in told] == [1]
