"""Counts of rows in a file that is not opened for use: it is neither made nor changed."""

from __future__ import annotations

import time
from pathlib import Path

from vr_kernel.state.sqlite.job_rows import SHOWN
from vr_kernel.state.sqlite.liveness import Watch
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


def count_interrupted(ledger: Path, lease_s: float) -> int:
    """Count the jobs whose process died; `lease_s` is the length of a lease in seconds.

    Raises:
        sqlite3.Error: when they cannot be read.
    """
    query = f"SELECT count(*) FROM job WHERE {SHOWN} = 'interrupted'"  # noqa: S608 - constant text
    with reading(ledger) as connection:
        live = Watch(lease_s).live_jobs(connection)
        values = {"now": time.time(), "lease_s": lease_s, "live": live}
        return int(connection.execute(query, values).fetchone()[0])
