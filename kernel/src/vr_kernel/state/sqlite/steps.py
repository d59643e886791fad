"""Paid replies in a SQLite file."""

from __future__ import annotations

import hashlib
import json
import sqlite3
import time
from collections.abc import Sequence
from functools import partial
from typing import Any, NamedTuple

from vr_kernel.state.sqlite.liveness import owns
from vr_kernel.storage.kept_database import KeptDatabase


class _Place(NamedTuple):
    """Place of a reply."""

    scope: str
    key: str
    version: str


class SqliteSteps:
    """The replies in the ledger; see `StepTable`. While there is no room they wait in memory."""

    def __init__(self, database: KeptDatabase) -> None:
        self._database = database

    async def find(self, scope: str, key: str, version: str) -> tuple[Any] | None:
        """The committed reply; None when there is none."""
        place = _Place(scope, key, version)
        return await self._database.look(partial(self._read, place))

    async def owns(self, token: int | None) -> bool:
        """Check that the ledger can be written now, and that the lease of that token is there."""
        return await self._database.run(lambda it: token is None or owns(it, token))

    async def commit(
        self, scope: str, key: str, version: str, reply: Any, token: int | None
    ) -> tuple[Any, bool]:
        """Keep a reply; returns the valid one, the first, and what `owns` would return."""
        place = _Place(scope, key, version)

        def write(connection: sqlite3.Connection) -> tuple[Any, bool]:
            found = self._read(place, connection) or (_write(place, reply, connection),)
            return found[0], token is None or owns(connection, token)

        return await self._database.keep(write, (reply, True))

    async def forget(self, scope: str) -> None:
        """Remove all replies of a piece of work."""

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM step WHERE scope = ?", (scope,))

        await self._database.run(delete)

    async def drop(self, scope: str, keys: Sequence[str], version: str) -> None:
        """Remove single replies."""

        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "DELETE FROM step WHERE scope = ? AND key = ? AND version = ?",
                [(scope, key, version) for key in keys],
            )

        await self._database.run(delete)

    async def prune(self, older_than_s: float) -> int:
        """Remove replies older than that many seconds, but for those of jobs; returns how many."""

        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "DELETE FROM step WHERE committed_at < ?"
                " AND scope NOT IN (SELECT 'job/' || id FROM job)",
                (time.time() - older_than_s,),
            ).rowcount

        return await self._database.run(delete)

    def _read(self, place: _Place, connection: sqlite3.Connection) -> tuple[Any] | None:
        row = connection.execute(
            "SELECT CAST(checksum AS BLOB), CAST(reply AS BLOB) FROM step"
            " WHERE scope = ? AND key = ? AND version = ?",
            place,
        ).fetchone()
        if row is None:
            return None
        checksum, text = row
        if checksum != _checksum(place, text):
            self._database.leave_out("step", place[:2])
            return None
        return (json.loads(text),)


def _write(place: _Place, reply: Any, connection: sqlite3.Connection) -> Any:
    text = json.dumps(reply, separators=(",", ":")).encode()
    row = (*place, time.time(), _checksum(place, text), text)
    connection.execute("INSERT OR REPLACE INTO step VALUES (?,?,?,?,?,?)", row)
    return json.loads(text)


def _checksum(place: _Place, text: bytes) -> bytes:
    return hashlib.sha256("\n".join(place).encode() + b"\n" + text).digest()
