"""The number of rows in a file, without opening the file for use."""

from __future__ import annotations

from pathlib import Path

from vr_kernel.storage.database_health import reading


def count_rows(file: Path, namespace: str = "", *, table: str = "") -> int:
    """Count the rows of a namespace, or of a table of a former file; the file is not changed.

    Raises:
        sqlite3.Error: when they cannot be read.
    """
    if not file.exists():
        return 0
    where = "entry WHERE namespace = ?"
    values = () if table else (namespace,)
    with reading(file) as connection:
        statement = f"SELECT count(*) FROM {table or where}"  # noqa: S608 - names of ours
        return int(connection.execute(statement, values).fetchone()[0])
