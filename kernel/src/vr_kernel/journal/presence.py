"""Records that are still in the journal."""

from __future__ import annotations

import sqlite3
from collections.abc import Collection


def present(
    connection: sqlite3.Connection, workspace: str, records: Collection[tuple[str, str]]
) -> bool:
    """Whether all of these records, as kind and key, are there, none of them deleted."""
    question = (
        "SELECT 1 FROM record WHERE workspace = ? AND kind = ? AND key = ? AND fields IS NOT NULL"
    )
    return all(
        connection.execute(question, (workspace, kind, key)).fetchone() is not None
        for kind, key in records
    )
