"""The state of a notes folder: the pages written into it, and the notes read from it."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Iterable
from contextlib import closing
from pathlib import Path
from typing import NamedTuple, TypeVar

from vr_kernel import VrError, private_file, private_folder
from vr_kernel.storage import (
    LeftOut,
    is_sound,
    is_useless,
    put_aside,
    read_text,
    require_own,
    set_aside,
    tell_emptied,
)

T = TypeVar("T")
WAIT_S = 1.0
"""Longest wait for another process that is writing."""
_SCHEMA = """
CREATE TABLE IF NOT EXISTS cursor (folder TEXT PRIMARY KEY, seq INTEGER NOT NULL);
CREATE TABLE IF NOT EXISTS note (
    folder TEXT NOT NULL,
    path TEXT NOT NULL,
    size INTEGER NOT NULL,
    mtime_ns INTEGER NOT NULL,
    passages INTEGER NOT NULL,
    PRIMARY KEY (folder, path)
) WITHOUT ROWID;
"""


class Seen(NamedTuple):
    """A file as it was when it was read, and the number of its passages."""

    size: int
    mtime_ns: int
    passages: int


class Ledger:
    """The state of one folder, in a file that all processes share; for worker threads.

    It may be lost: then existing pages are not written again, and notes are read once more.

    Args:
        path: of the SQLite file.
        folder: the notes folder.
        tell: is called with each damaged part, once.
    """

    def __init__(
        self, path: Path, folder: str, tell: Callable[[VrError], None] = lambda _error: None
    ) -> None:
        self._path = path
        self._folder = folder
        self._tell = tell
        self._left_out = LeftOut(path, tell)

    def cursor(self) -> int:
        """The sequence number of the last change of the journal that was handled."""
        return self._run(self._cursor)

    def move(self, start: int, end: int, work: Callable[[], None]) -> bool:
        """Do `work` and move the cursor from `start` to `end`, as the only process to do so.

        Returns False and does nothing when another process has moved it or is about to.

        Raises:
            OSError: what `work` raised; then the cursor stays.
        """

        def write(connection: sqlite3.Connection) -> bool:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if getattr(error, "sqlite_errorname", "") == "SQLITE_BUSY":
                    return False
                raise
            if self._cursor(connection) != start:
                return False
            work()
            row = (self._folder, end)
            connection.execute("INSERT OR REPLACE INTO cursor VALUES (?, ?)", row)
            return True

        return self._run(write)

    def notes(self) -> dict[str, Seen]:
        """The files that were read, by path below the folder."""

        def read(connection: sqlite3.Connection) -> dict[str, Seen]:
            query = "SELECT path, size, mtime_ns, passages FROM note WHERE folder = ?"
            rows = connection.execute(query, (self._folder,))
            found = {}
            for row in rows:
                if is_sound(row, (str, int, int, int)):
                    found[row[0]] = Seen(*row[1:])
                else:
                    self._left_out.add("note", row[0])
            return found

        return self._run(read)

    def keep(self, notes: Iterable[tuple[str, Seen]], gone: Iterable[str] = ()) -> None:
        """Store files that were read, and remove those that are gone."""

        def write(connection: sqlite3.Connection) -> None:
            rows = [(self._folder, path, *seen) for path, seen in notes]
            connection.execute("BEGIN IMMEDIATE")
            connection.executemany("INSERT OR REPLACE INTO note VALUES (?,?,?,?,?)", rows)
            lost = [(self._folder, path) for path in gone]
            connection.executemany("DELETE FROM note WHERE folder = ? AND path = ?", lost)

        self._run(write)

    def _cursor(self, connection: sqlite3.Connection) -> int:
        query = "SELECT seq FROM cursor WHERE folder = ?"
        row = connection.execute(query, (self._folder,)).fetchone()
        if row and not isinstance(row[0], int):
            self._left_out.add("cursor", self._folder)
            return 0
        return row[0] if row else 0

    def _run(self, work: Callable[[sqlite3.Connection], T]) -> T:
        try:
            return self._attempt(work)
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not is_useless(error, self._path):
                raise
            # Damaged: all of it can be rebuilt.
            if (kept := put_aside(self._path)) is not None:
                self._tell(set_aside(self._path, kept))
            return self._attempt(work)

    def _attempt(self, work: Callable[[sqlite3.Connection], T]) -> T:
        tell_emptied(self._path, self._tell)
        private_folder(self._path.parent)
        connection = sqlite3.connect(private_file(self._path), timeout=WAIT_S, isolation_level=None)
        with closing(connection):
            connection.text_factory = read_text
            require_own(connection, _SCHEMA)
            connection.executescript(_SCHEMA)
            try:
                made = work(connection)
                if connection.in_transaction:
                    connection.execute("COMMIT")
            except BaseException:
                if connection.in_transaction:
                    connection.execute("ROLLBACK")
                raise
            return made
