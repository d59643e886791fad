"""Rows in a SQLite file."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import islice
from typing import Any

from vr_kernel.state.row_checks import (
    changed,
    check_changes,
    check_key,
    check_list,
    check_place,
    load,
)
from vr_kernel.state.rows import (
    MOST_KEY_CHARS,
    Delete,
    Place,
    Put,
    Row,
    RowChange,
    RowList,
)
from vr_kernel.state.sqlite.table_file import TableFile
from vr_kernel.storage.sound_rows import is_text

# AUTOINCREMENT: the version of a row that was deleted and put again differs from its former one.
_SCHEMA = """
CREATE TABLE IF NOT EXISTS entry (
    version INTEGER PRIMARY KEY AUTOINCREMENT,
    namespace TEXT NOT NULL,
    workspace TEXT NOT NULL,
    principal TEXT NOT NULL,
    key TEXT NOT NULL,
    value TEXT NOT NULL,
    expires_at REAL,
    UNIQUE (namespace, workspace, principal, key)
);
CREATE INDEX IF NOT EXISTS entry_end ON entry (expires_at) WHERE expires_at IS NOT NULL;
"""
_OF = "namespace = ? AND workspace = ? AND principal = ?"
_LIVE = "(expires_at IS NULL OR expires_at > ?)"
_COLUMNS = "key, value, version, expires_at"
_DAMAGE = (AttributeError, TypeError, ValueError, RecursionError)
"""Errors of a row with another type than it was written with, of bytes, or of no JSON."""
_PAGE = 200
_SWEEP_S = 60.0
"""Seconds between two deletions of what has expired; until then it only counts as missing."""
_LAST, _SURROGATES = chr(0x10FFFF), (0xD7FF, 0xE000)
_Work = tuple[RowChange, str]


class SqliteRows(TableFile):
    """The rows of all places in one file."""

    schema = _SCHEMA
    sweep_at = 0.0
    """The time of the next deletion of what has expired, in seconds since the epoch."""

    def of(self, place: Place) -> RowsOfPlace:
        """Return the rows of one place.

        Raises:
            VrError: INVALID_INPUT for a name that no place can have.
        """
        return RowsOfPlace(check_place(place), self)


class RowsOfPlace:
    """The rows of one place; see `Rows`."""

    def __init__(self, place: Place, file: SqliteRows) -> None:
        self._file = file
        self._place = place
        self._database = file.database

    def within(self, workspace: str = "", principal: str = "") -> RowsOfPlace:
        """Return the rows of the same namespace in another workspace, for another principal."""
        return self._file.of(Place(self._place[0], workspace, principal))

    @property
    def left_out(self) -> int:
        """Number of damaged rows met so far, in all places."""
        return self._database.left_out

    async def get(self, key: str) -> Row | None:
        """Return a row; None when it is missing, expired or damaged."""
        read = partial(self._get, key=check_key(key))
        return None if self._database.is_missing else await self._database.look(read)

    async def list(self, prefix: str = "", *, after: str = "", limit: int = 1000) -> RowList:
        """List rows whose key begins with `prefix` and lies behind `after`, sorted by key."""
        most = check_list(prefix, after, limit)
        read = partial(self._list, prefix=prefix, after=after, limit=most)
        return [] if self._database.is_missing else await self._database.look(read)

    async def put(
        self,
        key: str,
        value: Any,
        *,
        expected: int | None = None,
        expires_at: float | None = None,
    ) -> Row:
        """Write one row and return it."""
        return (await self.write(Put(key, value, expected, expires_at)))[0]

    async def delete(self, key: str, *, expected: int | None = None) -> bool:
        """Delete one row; False when there was none."""
        work = check_changes([Delete(key, expected)])
        return (await self._database.run(partial(self._write, work=work)))[1] > 0

    async def write(self, *changes: RowChange, paid: bool = False) -> RowList:
        """Do all changes or none, and return the rows that were put, in order."""
        work = partial(self._write, work=check_changes(changes))
        if not paid:
            return (await self._database.run(work))[0]
        unwritten = [
            Row(it.key, it.value, 0, it.expires_at) for it in changes if isinstance(it, Put)
        ]
        return (await self._database.keep(work, (unwritten, 0)))[0]

    def _get(self, connection: sqlite3.Connection, key: str) -> Row | None:
        sql = f"SELECT {_COLUMNS} FROM entry WHERE {_OF} AND key = ?"  # noqa: S608 - constant text
        rows = connection.execute(sql, (*self._place, key))
        return next(self._sound(rows.fetchall()), None)

    def _list(self, connection: sqlite3.Connection, prefix: str, after: str, limit: int) -> RowList:
        return [*islice(self._pages(connection, prefix, after), limit)]

    def _pages(self, connection: sqlite3.Connection, prefix: str, after: str) -> Iterator[Row]:
        """Yield sound rows, read a page at a time: expired and damaged ones do not count."""
        sql = (
            f"SELECT {_COLUMNS} FROM entry WHERE {_OF} AND key >= ? AND key > ?"  # noqa: S608 - constant text
            " AND key < ? ORDER BY key LIMIT ?"
        )
        while True:
            values = (*self._place, prefix, after, _behind(prefix), _PAGE)
            rows = connection.execute(sql, values).fetchall()
            yield from self._sound(rows)
            if len(rows) < _PAGE:
                return
            after = rows[-1][0]

    def _sound(self, rows: Sequence[tuple[Any, ...]]) -> Iterator[Row]:
        now = time.time()
        for row in rows:
            key, text, version, expires_at = row
            try:
                if not (text.isascii() or is_text(text)) or not is_text(key):
                    raise ValueError
                if expires_at is None or now < expires_at:
                    yield Row(key, load(text), version, expires_at)
            except _DAMAGE:
                self._database.leave_out("entry", (self._place[0], key))

    def _write(self, connection: sqlite3.Connection, work: Sequence[_Work]) -> tuple[RowList, int]:
        now = time.time()
        if now >= self._file.sweep_at:
            connection.execute("DELETE FROM entry WHERE expires_at <= ?", (now,))
            self._file.sweep_at = now + _SWEEP_S
        for change, _ in work:  # before any is made: work that was held may be refused later
            self._require_expected(connection, change)
        rows: RowList = []
        deleted = 0
        for change, text in work:
            if isinstance(change, Put):
                rows.append(self._put(connection, change, text))
            else:
                deleted += self._delete(connection, change, now)
        return rows, deleted

    def _require_expected(self, connection: sqlite3.Connection, change: RowChange) -> None:
        if change.expected is None:
            return
        row = self._get(connection, change.key)
        if (row.version if row else 0) != change.expected:
            raise changed(change.key)

    def _put(self, connection: sqlite3.Connection, change: Put, text: str) -> Row:
        cursor = connection.execute(
            "INSERT OR REPLACE INTO entry (namespace, workspace, principal, key, value, expires_at)"
            " VALUES (?,?,?,?,?,?)",
            (*self._place, change.key, text, change.expires_at),
        )
        return Row(change.key, load(text), cursor.lastrowid or 0, change.expires_at)

    def _delete(self, connection: sqlite3.Connection, change: Delete, now: float) -> int:
        where, end = "key = ?", []
        if change.below:
            where, end = "key >= ? AND key < ?", [_behind(change.key)]
        sql = f"DELETE FROM entry WHERE {_OF} AND {where} AND {_LIVE}"  # noqa: S608 - constant text
        return connection.execute(sql, (*self._place, change.key, *end, now)).rowcount


def _behind(prefix: str) -> str:
    """The least text behind all keys that begin with a prefix."""
    stem = prefix.rstrip(_LAST)
    if not stem:
        return _LAST * (MOST_KEY_CHARS + 1)
    last = ord(stem[-1])
    return stem[:-1] + chr(_SURROGATES[1] if last == _SURROGATES[0] else last + 1)
