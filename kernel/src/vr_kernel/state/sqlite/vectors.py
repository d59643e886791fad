"""Vectors of items in a SQLite file."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Collection, Mapping
from typing import ClassVar

from vr_kernel.generation import Purpose
from vr_kernel.state.sqlite.table_file import TableFile
from vr_kernel.state.vectors import QUESTIONS

PAGE_BYTES = 8192
"""A page holds five vectors of 384 numbers; SQLite's default of 4096 would waste a quarter."""
QUESTION_WAIT_S = 0.5
"""Seconds to wait for another process before a question is remembered."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS vector (
    embedder TEXT NOT NULL, sha256 TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
CREATE TABLE IF NOT EXISTS question (
    embedder TEXT NOT NULL, sha256 TEXT NOT NULL, value BLOB NOT NULL,
    PRIMARY KEY (embedder, sha256)
);
"""
_TABLES: Mapping[Purpose, str] = {"document": "vector", "query": "question"}


class SqliteVectors(TableFile):
    """The vectors in one file; see `VectorTable`."""

    schema = _SCHEMA
    options: ClassVar = {"page_bytes": PAGE_BYTES}

    async def known(
        self, purpose: Purpose, embedder: str, digests: Collection[str], size: int
    ) -> dict[str, bytes]:
        """Find the vectors of these digests; those without one are left out."""

        def read(connection: sqlite3.Connection) -> dict[str, bytes]:
            rows = connection.execute(
                f"SELECT sha256, value FROM {_TABLES[purpose]} WHERE embedder = ?"  # noqa: S608 - constant text
                " AND sha256 IN (SELECT value FROM json_each(?))",
                (embedder, json.dumps([*digests])),
            )
            found = {}
            for digest, value in rows:
                if isinstance(value, bytes) and len(value) == size:
                    found[digest] = value
                else:
                    self.database.leave_out(_TABLES[purpose], digest)
            return found

        return await self.database.look(read)

    async def keep(self, purpose: Purpose, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by digest, in place of former ones."""
        table = _TABLES[purpose]
        # In index order, so that neighbours are written together.
        rows = [(embedder, digest, vectors[digest]) for digest in sorted(vectors)]

        def write(connection: sqlite3.Connection) -> None:
            connection.executemany(f"INSERT OR REPLACE INTO {table} VALUES (?,?,?)", rows)  # noqa: S608 - constant text
            if purpose == "query":
                latest = "(SELECT max(rowid) FROM question)"
                connection.execute(
                    f"DELETE FROM question WHERE rowid <= {latest} - ?",  # noqa: S608 - constant text
                    (QUESTIONS,),
                )

        if purpose == "query":
            await self.database.run(write, wait_s=QUESTION_WAIT_S)
        else:
            await self.database.keep(write, None)
