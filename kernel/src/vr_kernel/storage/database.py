"""A SQLite file for async callers: opened at first use, used in a thread of its own."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path
from typing import Any, Literal, TypeVar

from vr_kernel.config.paths import private_file, private_folder
from vr_kernel.errors import VrError
from vr_kernel.storage.damaged_rows import LeftOut
from vr_kernel.storage.database_errors import explained, tell_emptied
from vr_kernel.storage.database_faults import (
    FAULTS,
    NotBegunError,
    cause,
    is_busy,
    is_useless,
    require_own,
)
from vr_kernel.storage.file_identity import FileIdentity, identities, identity
from vr_kernel.storage.patience import Patience
from vr_kernel.storage.pending_work import PendingWork, finish
from vr_kernel.storage.sound_rows import read_text

T = TypeVar("T")
READ_WAIT_S = 2.0
"""Seconds that a reader waits for another process; a process that only writes never delays it."""
BUSY_TRY_MS = 50
"""Milliseconds that SQLite itself waits for a lock; readers are served between two tries."""
BUSY_PAUSE_S = 0.01
PAGE_BYTES = 4096
READ, WRITE = "BEGIN DEFERRED", "BEGIN IMMEDIATE"


class Database:
    """A SQLite file in WAL mode, shared by processes, with a thread of its own.

    Work that is queued when the thread is free shares a transaction, so that many concurrent
    writers wait for the disk once (group commit, DeWitt et al., SIGMOD 1984, section 5).

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        synchronous: FULL survives power loss, NORMAL may lose the last commits to it.
        disposable: a damaged or foreign file is set aside and created again, because its content
            can be made again.
        page_bytes: page size of a new file; an existing one keeps its own.
        tell: called once for each damage: a file that was set aside, or a row.
        patience: shared with the other files of the program.

    Text that is not UTF-8 causes no errors: see `sound_rows.is_sound`.
    """

    def __init__(
        self,
        path: Path,
        schema: str,
        *,
        synchronous: Literal["FULL", "NORMAL"] = "NORMAL",
        disposable: bool = False,
        page_bytes: int = PAGE_BYTES,
        tell: Callable[[VrError], None] = lambda _error: None,
        patience: Patience | None = None,
    ) -> None:
        self.path = path
        self.patience = patience or Patience()
        self._schema = schema
        self._synchronous = synchronous
        self._disposable = disposable
        self._page_bytes = page_bytes
        self._tell = tell
        self._left_out = LeftOut(path, tell)
        self._waiting: deque[PendingWork] = deque()
        self._call: Future[None] | None = None
        self._lock = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None
        self._opened_as: tuple[FileIdentity, FileIdentity, FileIdentity] = (None, None, None)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, wait_s: float = math.inf) -> T:
        """Run `work` in a transaction that is committed when this returns.

        If its transaction fails, for whatever reason, it is rolled back and `work` may run again,
        so `work` must change nothing but the database.

        Args:
            work: called with the connection, in a thread.
            wait_s: the longest wait for another process, if shorter than usual.

        Raises:
            VrError: UNAVAILABLE when the file cannot be opened, read or written; retryable when
                another process holds it for too long.
        """
        done: T = await self._awaited(PendingWork(work, WRITE, self.patience.begin(wait_s)))
        return done

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run` for work that only reads; a writer of another process never delays it."""
        found: T = await self._awaited(PendingWork(work, READ, self.patience.begin(READ_WAIT_S)))
        return found

    def run_blocking(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run`, for a caller without an event loop."""
        outcome: Future[T] = Future()
        self._add(PendingWork(work, WRITE, self.patience.begin(), outcome))
        return outcome.result()

    def run_later(self, work: Callable[[sqlite3.Connection], object]) -> None:
        """Like `run` for work that nobody waits for: if it fails, nothing is said."""
        self._add(PendingWork(work, WRITE, self.patience.begin(), Future()))

    def leave_out(self, table: str, key: object) -> None:
        """Report a damaged row, once; `key` identifies it, and is not its content."""
        self._left_out.add(table, key)

    @property
    def left_out(self) -> int:
        """Number of damaged rows found, up to a hundred."""
        return len(self._left_out)

    def close(self) -> None:
        """Close the file after all work is done or given up; a later `run` opens it again."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                thread.submit(self._disconnect).result()
                thread.shutdown()

    async def _awaited(self, item: PendingWork) -> Any:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        self._add(item._replace(outcome=outcome, loop=loop))
        return await outcome

    def _add(self, item: PendingWork) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"vr-{self.path.stem}")
            self._waiting.append(item)
            if self._call is None or self._call.running() or self._call.done():
                self._call = self._thread.submit(self._work_off)

    def _work_off(self) -> None:
        """Do all queued work, and what is added meanwhile."""
        while self._waiting:
            items = [self._waiting.popleft() for _ in range(len(self._waiting))]
            items = [item for item in items if not item.outcome.cancelled()]
            for begin in dict.fromkeys((READ, *(item.begin for item in items))):
                if together := [item for item in items if item.begin == begin]:
                    self._do(together)

    def _do(self, items: list[PendingWork]) -> None:
        try:
            results = self._transact_anew(items)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for it
            if is_busy(cause(error)):
                self._put_off(items, error)
            elif len(items) == 1 or isinstance(error, NotBegunError):
                finish([(item, *self._failed(item, error)) for item in items])
            else:  # One of them is at fault: run each by itself, so that the others succeed.
                for item in items:
                    self._do([item])
        else:
            finish([(item, it, None) for item, it in zip(items, results, strict=True)])

    def _put_off(self, items: list[PendingWork], error: BaseException) -> None:
        """Queue work again that may wait longer, and fail the rest; none of it was done."""
        self.patience.found_locked(self.path)
        ends = [(item, self.patience.is_over(item.wait)) for item in items]
        self._waiting.extendleft(item for item, over in reversed(ends) if not over)
        finish([(item, *self._failed(item, error)) for item, over in ends if over])
        time.sleep(BUSY_PAUSE_S)  # SQLite does not wait for every kind of lock

    def _transact_anew(self, items: list[PendingWork]) -> list[Any]:
        """Do work in one transaction; in a new file when this one is disposable and damaged."""
        try:
            return self._transact(items)
        except (*FAULTS, NotBegunError) as error:
            if not (self._disposable and is_useless(cause(error), self.path)):
                raise
        self._set_aside()
        return self._transact(items)

    def _transact(self, items: list[PendingWork]) -> list[Any]:
        try:
            connection = self._opened()
            connection.execute(items[0].begin)
        except FAULTS as error:
            raise NotBegunError from error
        if items[0].begin == WRITE:
            self.patience.found_free(self.path)
        try:
            results = [item.work(connection) for item in items]
            connection.commit()
        except BaseException:
            connection.rollback()
            raise
        return results

    def _opened(self) -> sqlite3.Connection:
        if self._connection is not None and self._is_gone():
            from vr_kernel.storage.database_damage import leave

            self._tell(leave(self.path, self._opened_as, self._connection, self._disconnect))
        if self._connection is None:
            self._opened_as = identity(self.path), None, None
            tell_emptied(self.path, self._tell)
            private_folder(self.path.parent)
            where = private_file(self.path)
            connection = sqlite3.connect(where, BUSY_TRY_MS / 1000, isolation_level=None)
            try:
                connection.text_factory = read_text
                require_own(connection, self._schema)
                connection.execute(f"PRAGMA page_size={self._page_bytes}")
                connection.execute("PRAGMA journal_mode=WAL")
                connection.execute(f"PRAGMA synchronous={self._synchronous}")
                connection.executescript(self._schema)
            except BaseException:
                connection.close()
                raise
            self._connection = connection
            self._opened_as = identities(self.path)
        return self._connection

    def _is_gone(self) -> bool:
        """True when the file or its log was replaced: processes would no longer share one file."""
        return identities(self.path) != self._opened_as

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside(self) -> None:
        self._disconnect()
        if identity(self.path) != self._opened_as[0]:  # another process was faster
            return
        from vr_kernel.storage.database_damage import put_aside
        from vr_kernel.storage.database_errors import set_aside

        if (kept := put_aside(self.path)) is not None:
            self._tell(set_aside(self.path, kept))

    def _failed(self, _item: PendingWork, error: BaseException) -> tuple[Any, BaseException | None]:
        """The result and the error for the caller; faults of a file become typed errors."""
        fault = cause(error)
        return None, explained(self.path, fault) if isinstance(fault, FAULTS) else error
