"""Records that are still in the journal, here or in other workspaces."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection

from vr_kernel.storage.sound_rows import is_text


def present(
    connection: sqlite3.Connection, workspace: str, records: Collection[tuple[str, str]]
) -> bool:
    """True when all of these records, as kind and key, are there, none of them deleted."""
    question = (
        "SELECT 1 FROM record WHERE workspace = ? AND kind = ? AND key = ? AND fields IS NOT NULL"
    )
    return all(
        connection.execute(question, (workspace, kind, key)).fetchone() is not None
        for kind, key in records
    )


def count_elsewhere(
    connection: sqlite3.Connection, workspace: str, kinds: Collection[str]
) -> dict[str, int]:
    """Count the records of each other workspace, of these kinds or of all."""
    marks = ",".join("?" * len(kinds))
    rows = connection.execute(
        "SELECT workspace, count(*) FROM record WHERE fields IS NOT NULL AND workspace != ?"  # noqa: S608 - constant text
        + (f" AND kind IN ({marks})" if kinds else "")
        + " GROUP BY workspace ORDER BY workspace",
        (workspace, *kinds),
    )
    return {name: count for name, count in rows if isinstance(name, str) and is_text(name)}


def count_after(connection: sqlite3.Connection, after: int) -> int:
    """Count the records and deletions with a sequence number above `after`."""
    where = "WHERE seq > ?" if after else "WHERE ? = 0"  # without a limit an index counts
    sql = f"SELECT count(*) FROM record {where}"  # noqa: S608 - constant text
    return int(connection.execute(sql, (after,)).fetchone()[0])
