"""Records that a store rejected: kept by name until they are sent again or given up."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from vr_kernel.errors import VrError, reason_of
from vr_kernel.records import Change
from vr_kernel.storage.kept_database import KeptDatabase
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.sound_rows import is_sound

_SCHEMA = """
CREATE TABLE IF NOT EXISTS refused (
    store TEXT NOT NULL, workspace TEXT NOT NULL, kind TEXT NOT NULL, key TEXT NOT NULL,
    reason TEXT NOT NULL, tries INTEGER NOT NULL, refused_at TEXT NOT NULL,
    PRIMARY KEY (store, workspace, kind, key)
) WITHOUT ROWID;
"""
_COLUMNS = "workspace, kind, key, reason, tries, refused_at"
_OF_RECORD = "store = ? AND workspace = ? AND kind = ? AND key = ?"
REASON_CHARS = 1000


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record that a store rejected, and the reason."""

    workspace: str
    kind: str
    key: str
    reason: str
    tries: int
    refused_at: str


class DeadLetters:
    """The failed lists of all stores of one state folder. The records stay in the journal.

    Args:
        path: of the lists.
        tell: called once for each damage found in them.
        patience: with locks, shared with the other files of the program.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        how: Any = {"tell": tell, "patience": patience}
        self._database = KeptDatabase(path, _SCHEMA, disposable=True, **how)

    async def add(self, store: str, change: Change, error: BaseException, tries: int) -> None:
        """Add a record that a store refused.

        Raises:
            VrError: UNAVAILABLE when the list cannot be written.
        """
        now = datetime.now(UTC).isoformat(timespec="milliseconds")
        record = (store, change.workspace, change.kind, change.key)
        row = (*record, reason_of(error)[:REASON_CHARS], tries, now)

        def write(connection: sqlite3.Connection) -> None:
            connection.execute("INSERT OR REPLACE INTO refused VALUES (?,?,?,?,?,?,?)", row)

        await self._database.run(write)

    async def forget(self, store: str, records: Sequence[tuple[str, str, str]]) -> None:
        """Take records, as workspace, kind and key, off the list of a store."""

        def write(connection: sqlite3.Connection) -> None:
            rows = [(store, *record) for record in records]
            connection.executemany(f"DELETE FROM refused WHERE {_OF_RECORD}", rows)  # noqa: S608 - constant text

        await self._database.run(write)

    async def list(self, store: str) -> list[DeadLetter]:
        """The records that a store refused, the latest first."""

        def read(connection: sqlite3.Connection) -> list[DeadLetter]:
            rows = connection.execute(
                f"SELECT {_COLUMNS} FROM refused WHERE store = ?"  # noqa: S608 - constant columns
                " ORDER BY refused_at DESC, kind, key",
                (store,),
            )
            found = []
            for row in rows:
                if is_sound(row, (str, str, str, str, int, str)):
                    found.append(DeadLetter(*row))
                else:
                    self._database.leave_out("refused", row[1:3])
            return found

        return await self._database.read(read)

    async def count(self, store: str) -> int:
        """Count the records that a store refused."""

        def read(connection: sqlite3.Connection) -> int:
            row = connection.execute("SELECT count(*) FROM refused WHERE store = ?", (store,))
            return int(row.fetchone()[0])

        return await self._database.read(read)

    def close(self) -> None:
        """Close the file."""
        self._database.close()
