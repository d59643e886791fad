"""One SQLite file behind an async door: opened at first use, worked on in its own thread."""

from __future__ import annotations

import asyncio
import math
import sqlite3
import threading
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from vr_kernel.config.paths import private_file, private_folder
from vr_kernel.errors import VrError
from vr_kernel.storage.database_faults import (
    FAULTS,
    Identity,
    LeftOut,
    NotBegunError,
    Patience,
    Wait,
    cause,
    explained,
    identities,
    identity,
    is_busy,
    is_useless,
    read_text,
    require_own,
    tell_emptied,
)

T = TypeVar("T")
READ_WAIT_S = 2.0
"""How long a reader waits for another process; one that only writes does not hold it up."""
BUSY_TRY_MS = 50
"""How long SQLite itself waits; between two tries those are served who only read."""
BUSY_PAUSE_S = 0.01
PAGE_BYTES = 4096
READ, WRITE = "BEGIN DEFERRED", "BEGIN IMMEDIATE"
OWNER = "owner"
"""The owner's mark. A name of the system's user would change, and might be a token's some day."""
PREFIX = "token:"
_IS_TOKENS = f"substr(principal, 1, {len(PREFIX)}) = '{PREFIX}'"
MARK = f"CASE WHEN {_IS_TOKENS} THEN principal ELSE '{OWNER}' END"
"""SQL: the mark of a row. What bears no token's is the owner's; older rows have a user's name."""


class Database:
    """A SQLite file in WAL mode, shared by processes, with a thread of its own.

    Work that waits when the thread is free shares a transaction, so that many writers at once
    wait for the disk once (group commit, DeWitt et al., SIGMOD 1984, section 5).

    Args:
        path: the file; its folder is made when missing.
        schema: idempotent statements that run at opening.
        synchronous: FULL survives power loss, NORMAL may lose the last commits to it.
        disposable: a damaged or foreign file is set aside and made anew, because its content
            can be.
        page_bytes: of a file that is made; one that is there keeps its own.
        tell: takes what is damaged, once each: the file that was set aside, and rows.
        patience: shared with the other files of the program.

    Text that is no UTF-8 fails nothing: see `database_faults.is_sound`.
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
        self._waiting: deque[Turn] = deque()
        self._call: Future[None] | None = None
        self._lock = threading.Lock()
        self._thread: ThreadPoolExecutor | None = None
        self._connection: sqlite3.Connection | None = None
        self._opened_as: tuple[Identity, Identity, Identity] = (None, None, None)

    async def run(self, work: Callable[[sqlite3.Connection], T], *, wait_s: float = math.inf) -> T:
        """Run `work` in a transaction that is committed when this returns.

        When its transaction fails, for whatever reason, it is rolled back and `work` may run
        again: it changes nothing but the database.

        Args:
            work: is given the connection, in a thread.
            wait_s: the longest wait for another process, when it is less than all may wait.

        Raises:
            VrError: UNAVAILABLE when the file cannot be opened, read or written; retryable when
                another process holds it for too long.
        """
        done: T = await self._awaited(Turn(work, WRITE, self.patience.begin(wait_s)))
        return done

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run` for work that writes nothing: another process's writer never delays it."""
        found: T = await self._awaited(Turn(work, READ, self.patience.begin(READ_WAIT_S)))
        return found

    def run_blocking(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run`, for a caller without an event loop."""
        outcome: Future[T] = Future()
        self._add(Turn(work, WRITE, self.patience.begin(), outcome))
        return outcome.result()

    def leave_out(self, table: str, key: object) -> None:
        """Say of a row that it is damaged, once; `key` tells which it is, not what it holds."""
        self._left_out.add(table, key)

    @property
    def left_out(self) -> int:
        """How many rows were met that are damaged, up to a hundred."""
        return len(self._left_out)

    def close(self) -> None:
        """Close the file once all work is done, or given up; a later `run` opens it again."""
        with self._lock:
            thread, self._thread = self._thread, None
            if thread is not None:
                thread.submit(self._disconnect).result()
                thread.shutdown()

    async def _awaited(self, turn: Turn) -> Any:
        loop = asyncio.get_running_loop()
        outcome: asyncio.Future[Any] = loop.create_future()
        self._add(turn._replace(outcome=outcome, loop=loop))
        return await outcome

    def _add(self, turn: Turn) -> None:
        with self._lock:
            if self._thread is None:
                self._thread = ThreadPoolExecutor(1, thread_name_prefix=f"vr-{self.path.stem}")
            self._waiting.append(turn)
            if self._call is None or self._call.running() or self._call.done():
                self._call = self._thread.submit(self._work_off)

    def _work_off(self) -> None:
        """All that waits, and what comes meanwhile while another process holds the file."""
        while self._waiting:
            turns = [self._waiting.popleft() for _ in range(len(self._waiting))]
            turns = [turn for turn in turns if not turn.outcome.cancelled()]
            for begin in dict.fromkeys((READ, *(turn.begin for turn in turns))):
                if together := [turn for turn in turns if turn.begin == begin]:
                    self._do(together)

    def _do(self, turns: list[Turn]) -> None:
        try:
            results = self._transact_anew(turns)
        except BaseException as error:  # noqa: BLE001 - handed to whoever waits for it
            if is_busy(cause(error)):
                self._put_off(turns, error)
            elif len(turns) == 1 or isinstance(error, NotBegunError):
                _tell([(turn, *self._failed(turn, error)) for turn in turns])
            else:  # One of them is at fault: the others do not pay for it.
                for turn in turns:
                    self._do([turn])
        else:
            _tell([(turn, it, None) for turn, it in zip(turns, results, strict=True)])

    def _put_off(self, turns: list[Turn], error: BaseException) -> None:
        """Let those wait on who have not waited enough; nothing of their work was done."""
        self.patience.found_locked(self.path)
        ends = [(turn, self.patience.is_over(turn.wait)) for turn in turns]
        self._waiting.extendleft(turn for turn, over in reversed(ends) if not over)
        _tell([(turn, *self._failed(turn, error)) for turn, over in ends if over])
        time.sleep(BUSY_PAUSE_S)  # not every busy lock is one that SQLite waits for

    def _transact_anew(self, turns: list[Turn]) -> list[Any]:
        """The results, in a new file when this one is disposable and damaged."""
        try:
            return self._transact(turns)
        except (*FAULTS, NotBegunError) as error:
            if not (self._disposable and is_useless(cause(error), self.path)):
                raise
        self._set_aside()
        return self._transact(turns)

    def _transact(self, turns: list[Turn]) -> list[Any]:
        try:
            connection = self._opened()
            connection.execute(turns[0].begin)
        except FAULTS as error:
            raise NotBegunError from error
        if turns[0].begin == WRITE:
            self.patience.found_free(self.path)
        try:
            results = [turn.work(connection) for turn in turns]
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
        """True when somebody took away the file or its log, which would divide who shares it."""
        return identities(self.path) != self._opened_as

    def _disconnect(self) -> None:
        if self._connection is not None:
            self._connection.close()
            self._connection = None

    def _set_aside(self) -> None:
        self._disconnect()
        if identity(self.path) != self._opened_as[0]:  # another process was faster
            return
        from vr_kernel.storage.database_damage import put_aside, set_aside

        if (kept := put_aside(self.path)) is not None:
            self._tell(set_aside(self.path, kept))

    def _failed(self, _turn: Turn, error: BaseException) -> tuple[Any, BaseException | None]:
        """What the caller is told: a fault of the file is typed, one of the work its own."""
        fault = cause(error)
        return None, explained(self.path, fault) if isinstance(fault, FAULTS) else error


class Turn(NamedTuple):
    """A piece of work that waits for a transaction, and who waits for it: a loop or a thread."""

    work: Callable[[sqlite3.Connection], Any]
    begin: str
    wait: Wait
    outcome: Any = None
    loop: asyncio.AbstractEventLoop | None = None
    otherwise: tuple[Any, ...] | None = None


def _tell(ends: list[tuple[Turn, Any, BaseException | None]]) -> None:
    """Hand out results, or why there is none; a loop is woken once, however many wait in it."""
    for loop in dict.fromkeys(turn.loop for turn, _, _ in ends):
        its = [end for end in ends if end[0].loop is loop]
        if loop is None:
            _settle(its)
        else:
            with suppress(RuntimeError):  # it is closed, and nobody waits there any more
                loop.call_soon_threadsafe(_settle, its)


def _settle(ends: list[tuple[Turn, Any, BaseException | None]]) -> None:
    for turn, result, error in ends:
        if error is not None and not turn.outcome.done():
            turn.outcome.set_exception(error)
        elif not turn.outcome.done():  # who waited may have gone
            turn.outcome.set_result(result)


def mark_of(principal: str, owner: str) -> str:
    """What rows of a principal bear; `owner` is the principal who runs the program."""
    return OWNER if principal == owner else f"{PREFIX}{principal}"


def principal_of(mark: str, owner: str) -> str:
    """The principal of a row."""
    return mark.removeprefix(PREFIX) if mark.startswith(PREFIX) else owner
