"""The store's SQLite file: one writer, several readers, rebuilt when it is damaged."""

from __future__ import annotations

import math
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from vr_kernel import Code, Log, VrError, private_file, private_folder
from vr_kernel.storage import (
    Patience,
    begin_anew,
    explained,
    is_busy,
    put_aside,
    tell_emptied,
    told_by,
    wording,
)

from vr_plugin_knowledge.embedded_store.refused_rebuild import rebuild_refused
from vr_plugin_knowledge.embedded_store.schema import is_damage, prepare
from vr_plugin_knowledge.rebuilt import rebuilt

T = TypeVar("T")
BUSY_TIMEOUT_S = 10.0
"""Longest wait for a lock that another process holds."""
BUSY_TRY_MS = 250
HELD_S = 0.5
"""Wait for the lock after which the process that holds it may be stuck."""
READERS = 4
CLOSE_WAIT_S = 5.0


class Database:
    """Blocking access to one SQLite file in WAL mode that several processes share.

    A file that is damaged, or of another layout, is renamed and a new one made: all of it can be
    read from the journal again. `generation` rises whenever the file is replaced; `unwritable` says
    that its folder was not writable when it was last read.

    Args:
        path: the file; its folder is made when missing.
        log: where a damaged file is reported.
        refusal: returns the error when the file must not be made anew; None to allow it.
        close_wait_s: seconds that closing waits for running work.
    """

    def __init__(
        self,
        path: Path,
        log: Log,
        refusal: Callable[[], VrError | None] = lambda: None,
        *,
        close_wait_s: float = CLOSE_WAIT_S,
    ) -> None:
        self.path = path
        self._refusal = refusal
        self.generation, self.unwritable = 0, False
        self._close_wait_s = close_wait_s
        self._log = log
        self._identity = (0, 0)
        self._writing = threading.RLock()
        self._pool_lock = threading.Condition()
        self._writer: sqlite3.Connection | None = None
        self._idle: list[tuple[int, sqlite3.Connection]] = []
        self._running = 0
        self._asked_at = math.inf
        self._patience = Patience(BUSY_TIMEOUT_S)
        self._closed = False

    def write(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` in one immediate transaction that commits when it returns.

        Raises:
            VrError: UNAVAILABLE when the file cannot be used; category STORE_REBUILT when it
                was damaged and is empty now.
        """
        with self._writing, self._guarded():
            connection = self._current_writer()
            self._begin(connection)
            return _finish(connection, work)

    def is_held(self) -> bool:
        """True while a writer waits for another process that may be stuck."""
        return time.monotonic() - self._asked_at > HELD_S

    def _begin(self, connection: sqlite3.Connection) -> None:
        self._asked_at = time.monotonic()
        wait = self._patience.begin()
        try:
            while True:
                try:
                    connection.execute("BEGIN IMMEDIATE")
                except sqlite3.OperationalError as error:
                    if not is_busy(error) or self._closed or self._patience.is_over(wait):
                        raise
                else:
                    return
        finally:
            self._asked_at = math.inf

    def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Run `work` on one snapshot of the file, in parallel with writers and other readers.

        Raises:
            VrError: as for `write`.
        """
        with self._guarded():
            try:
                generation, connection = self._borrow()
                self.unwritable = False
            except (sqlite3.Error, OSError) as error:
                from vr_kernel.storage import read_unwritable

                if (found := read_unwritable(self.path, [work], error)) is None:
                    raise
                self.unwritable = True
                return found[0]
            try:
                connection.execute("BEGIN")
                return _finish(connection, work)
            finally:
                self._give_back(generation, connection)

    def renew(self, work: Callable[[sqlite3.Connection], object]) -> Path | None:
        """Rename the file as given up, make a new one with `work`; return the old one's new name.

        Raises:
            VrError: UNAVAILABLE when no new file can be made; says where the former file is.
        """
        with self._writing, self._guarded():
            if self._writer is not None:
                with suppress(sqlite3.Error):  # what is left in the WAL is renamed with the file
                    self._writer.execute("PRAGMA wal_checkpoint(TRUNCATE)")
            self._close_all()
            return begin_anew(self.path, lambda: self.write(work), self._close_all)

    def close(self) -> None:
        """Close all connections after waiting a short time for running work.

        Work that runs longer or comes later closes its own connection.
        """
        with self._pool_lock:
            self._closed = True
            self._pool_lock.wait_for(lambda: not self._running, self._close_wait_s)
        with self._writing:
            self._close_all()

    @contextmanager
    def _guarded(self) -> Iterator[None]:
        with self._pool_lock:
            self._running += 1
        try:
            yield
        except (sqlite3.Error, UnicodeDecodeError, OSError) as error:
            if isinstance(error, sqlite3.ProgrammingError | sqlite3.IntegrityError):
                raise
            if not is_damage(error):
                raise self._unavailable(error) from error
            with self._writing:
                self._replace()
            raise rebuilt(
                "The knowledge base was damaged and is being rebuilt from the journal."
            ) from None  # SQLite's message may quote a record
        finally:
            with self._pool_lock:
                self._running -= 1
                self._pool_lock.notify_all()
                late = self._closed and not self._running
            if late:
                with self._writing:
                    self._close_all()

    def _current_writer(self) -> sqlite3.Connection:
        writer = self._writer
        if writer is not None and _identity(self.path) == self._identity:
            return writer
        with self._writing:
            # Another process, or the user, may have put another file in its place.
            if self._writer is not None and _identity(self.path) != self._identity:
                self._close_all()
                self._log.warning("the knowledge base was replaced", file=self.path.name)
            if self._writer is None:
                self._writer = self._open()
            return self._writer

    def _borrow(self) -> tuple[int, sqlite3.Connection]:
        self._current_writer()
        with self._pool_lock:
            if self._idle:
                return self._idle.pop()
            generation = self.generation
        connection = self._connect()
        connection.execute("PRAGMA query_only = ON")
        return generation, connection

    def _give_back(self, generation: int, connection: sqlite3.Connection) -> None:
        with self._pool_lock:
            if generation == self.generation and len(self._idle) < READERS:
                self._idle.append((generation, connection))
                return
        connection.close()

    def _open(self) -> sqlite3.Connection:
        try:
            connection = self._prepared()
        except (sqlite3.DatabaseError, UnicodeDecodeError) as error:
            if not is_damage(error):
                raise
            self._set_aside(wording(error))
            connection = self._prepared()
        self._identity = _identity(self.path)
        return connection

    def _prepared(self) -> sqlite3.Connection:
        tell_emptied(self.path, told_by(self._log))
        private_folder(self.path.parent)
        private_file(self.path)
        connection = self._connect()
        try:
            prepare(connection)
            connection.execute("PRAGMA synchronous = NORMAL")
            connection.execute("PRAGMA temp_store = MEMORY")
            connection.execute(f"PRAGMA busy_timeout = {BUSY_TRY_MS}")  # then it checks for closing
        except BaseException:
            connection.close()
            raise
        return connection

    def _connect(self) -> sqlite3.Connection:
        return sqlite3.connect(
            self.path, BUSY_TIMEOUT_S, isolation_level=None, check_same_thread=False
        )

    def _replace(self) -> None:
        ours = self._identity
        self._close_all()
        # Another process may have replaced the damaged file already; the new one must stay.
        if _identity(self.path) == ours:
            self._set_aside("a page could not be read")
        self._writer = self._open()

    def _set_aside(self, reason: str) -> None:
        if (refused := self._refusal()) is not None:
            raise rebuild_refused(refused, self.path.name)
        kept = put_aside(self.path)
        self._log.warning(
            "the knowledge base is damaged; it is rebuilt from the journal",
            reason=reason,
            kept_as=str(kept),
        )

    def _close_all(self) -> None:
        with self._pool_lock:
            self.generation += 1
            idle = [connection for _, connection in self._idle]
            self._idle.clear()
        for connection in [*idle, *([self._writer] if self._writer else [])]:
            connection.close()
        self._writer = None

    def _unavailable(self, error: Exception) -> VrError:
        if is_busy(error):
            return explained(self.path, error)
        name = getattr(error, "sqlite_errorname", None) or type(error).__name__
        return VrError(
            f"The knowledge base {self.path.name} cannot be used: {wording(error)} ({name}).",
            Code.UNAVAILABLE,
            category="STORE_UNAVAILABLE",
            hint=f"Check that {self.path.parent} exists, is writable and has free space.",
            retryable=True,
        )


def _finish(connection: sqlite3.Connection, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        result = work(connection)
    except BaseException:
        if connection.in_transaction:
            connection.rollback()
        raise
    connection.commit()
    return result


def _identity(path: Path) -> tuple[int, int]:
    try:
        status = path.stat()
    except FileNotFoundError:
        return (0, 0)
    return status.st_dev, status.st_ino
