"""A SQLite file of an earlier version, read to the end and then put out of use."""

from __future__ import annotations

import asyncio
import os
import sqlite3
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any

from vr_kernel.errors import VrError
from vr_kernel.storage.damaged_rows import LeftOut
from vr_kernel.storage.database_errors import explained, set_aside
from vr_kernel.storage.database_faults import FAULTS, is_useless
from vr_kernel.storage.file_identity import log_of
from vr_kernel.storage.sound_rows import is_text, read_text

PAGE = 500
"""Rows that are read at a time."""
WAIT_S = 10.0
"""Seconds to wait for another process that holds the file."""
_Row = dict[str, Any]


class FormerFile:
    """A SQLite file of an earlier version.

    A file that is damaged, or another program's, is set aside under another name and counts as
    empty from there on.

    Args:
        file: exists.
        tell: called once for each damage found in it.
    """

    def __init__(self, file: Path, tell: Callable[[VrError], None]) -> None:
        self._file = file
        self._tell = tell
        self._left_out = LeftOut(file, tell)
        self._connection: sqlite3.Connection | None = None

    async def pages(self, table: str) -> AsyncIterator[list[_Row]]:
        """Yield the sound rows of a table, page by page; none when there is no such table.

        Raises:
            VrError: UNAVAILABLE when the file cannot be read now.
        """
        cursor = await self._attempt(lambda: self._select(table))
        while cursor is not None:
            rows = await self._attempt(lambda: cursor.fetchmany(PAGE))
            if not rows:
                return
            names = [column[0] for column in cursor.description]
            page = [dict(zip(names, row, strict=True)) for row in rows]
            yield [row for row in page if self._is_sound(table, row)]

    async def aclose(self) -> None:
        """Close the file."""
        connection, self._connection = self._connection, None
        if connection is not None:
            await asyncio.to_thread(connection.close)

    def retire(self, ending: str) -> None:
        """Rename the file, so that it is not read again.

        Raises:
            VrError: UNAVAILABLE when it cannot be renamed.
        """
        try:
            if self._file.exists():
                os.utime(self._file)  # its age counts from now on
                self._file.replace(self._file.with_name(self._file.name + ending))
            for each in (log_of(self._file), log_of(self._file, "shm")):
                each.unlink(missing_ok=True)
        except OSError as error:
            raise explained(self._file, error) from error

    def leave_out(self, table: str, row: _Row) -> None:
        """Report a row that is damaged, once."""
        self._left_out.add(table, next(iter(row.values())))

    def _select(self, table: str) -> sqlite3.Cursor | None:
        if self._connection is None:
            self._connection = sqlite3.connect(
                self._file, timeout=WAIT_S, isolation_level=None, check_same_thread=False
            )
            self._connection.text_factory = read_text
        known = "SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?"
        if self._connection.execute(known, (table,)).fetchone() is None:
            return None
        return self._connection.execute(f"SELECT * FROM {table}")  # noqa: S608 - a name of ours

    def _is_sound(self, table: str, row: _Row) -> bool:
        sound = all(is_text(value) for value in row.values() if isinstance(value, str))
        if not sound:
            self.leave_out(table, row)
        return sound

    async def _attempt(self, read: Callable[[], Any]) -> Any:
        """Read in a thread; nothing is found any more in a file that turns out to be damaged."""
        try:
            return await asyncio.to_thread(read)
        except FAULTS as error:
            await self.aclose()
            if not is_useless(error, self._file):
                raise explained(self._file, error) from error
            from vr_kernel.storage.database_damage import put_aside

            if (kept := put_aside(self._file)) is not None:
                self._tell(set_aside(self._file, kept))
            return None
