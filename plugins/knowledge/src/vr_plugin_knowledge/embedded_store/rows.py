"""Many rows in few statements.

Python releases its lock for each step of a statement and waits for it afterwards: one statement per
row takes twice the time when another thread works, too. A connection caches 128 statements, each as
large as its number of values, so only few different lengths are used.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Sequence
from itertools import chain
from typing import Any

AT_ONCE = 500
"""Rows of one statement; SQLite binds up to 32,766 values."""


def insert_rows(connection: sqlite3.Connection, into: str, rows: Sequence[tuple[Any, ...]]) -> None:
    """Insert rows, all as long as the first.

    Args:
        connection: to write through.
        into: a table, and its columns in brackets when not all of them are given.
        rows: what to insert.
    """
    if not rows:
        return
    sql, one = f"INSERT INTO {into} VALUES ", f"({','.join('?' * len(rows[0]))})"  # noqa: S608 - values are bound
    whole = len(rows) - len(rows) % AT_ONCE
    for start in range(0, whole, AT_ONCE):
        values = tuple(chain.from_iterable(rows[start : start + AT_ONCE]))
        connection.execute(sql + ",".join([one] * AT_ONCE), values)
    connection.executemany(sql + one, rows[whole:])


def select_by(
    connection: sqlite3.Connection, sql: str, values: Sequence[Any], keys: Sequence[Any]
) -> list[tuple[Any, ...]]:
    """The rows of a SELECT that ends in a column's name, for that column's values in `keys`."""
    rows: list[tuple[Any, ...]] = []
    for start in range(0, len(keys), AT_ONCE):
        part = keys[start : start + AT_ONCE]
        # Padded to a power of two: a value that is given twice is found once.
        padded = [*part, *[part[-1]] * ((1 << (len(part) - 1).bit_length()) - len(part))]
        marks = ",".join("?" * len(padded))
        rows += connection.execute(f"{sql} IN ({marks})", (*values, *padded)).fetchall()
    return rows
