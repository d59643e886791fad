"""A database for paid results: a write that fails is held in memory until it succeeds."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import Any, TypeVar

from vr_kernel.errors import VrError
from vr_kernel.storage.database import READ, READ_WAIT_S, WRITE, Database
from vr_kernel.storage.database_errors import explained
from vr_kernel.storage.database_faults import (
    FAULTS,
    NotBegunError,
    cause,
    is_busy,
    is_full,
    is_passing,
)
from vr_kernel.storage.pending_work import PendingWork

T = TypeVar("T")
_LOOK = "BEGIN IMMEDIATE -- to be rolled back"


class KeptDatabase(Database):
    """A database that can hold writes in memory.

    Held writes stay in order before all later ones, and are written with the next write that
    succeeds; the room retries them. Nothing is paid for meanwhile, so only requests that were under
    way when the file was full, or locked by another process, are held.

    If its patience has no `room_of`, `keep` is like `run`.

    Attributes:
        unwritable: True when the file was last opened in a folder where nothing may be written.
    """

    def __init__(self, path: Path, schema: str, **how: Any) -> None:
        super().__init__(path, schema, **how)
        self.unwritable = self._was_open = False
        self._held: list[PendingWork] = []
        self._heard: list[Callable[[], object]] = []

    @property
    def holding(self) -> bool:
        """True while anything is held in memory."""
        return bool(self._held)

    @property
    def is_missing(self) -> bool:
        """True when there is no file yet, and nothing to be written to one."""
        return not (self._was_open or self._held or self.path.exists())

    async def keep(self, work: Callable[[sqlite3.Connection], T], otherwise: Any) -> T:
        """Like `run` for paid results: a write that fails is held.

        The result of `work` is returned in that case, too, or `otherwise` if it could not even be
        tried.
        """
        kept: T = await self._awaited(
            PendingWork(work, WRITE, self.patience.begin(), otherwise=(otherwise,))
        )
        return kept

    async def insist(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `run`, but may use the disk space kept for paid results; holds nothing."""
        done: T = await self._awaited(PendingWork(work, WRITE, self.patience.begin(), otherwise=()))
        return done

    async def look(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Like `read`, but also sees held writes."""
        if self._held:
            with suppress(VrError):  # another process may hold the lock that this needs
                found: T = await self._awaited(
                    PendingWork(work, _LOOK, self.patience.begin(READ_WAIT_S))
                )
                return found
        return await self.read(work)

    def holds(self, when_written: Callable[[], object]) -> bool:
        """Say if anything is held; if so, call back, in a thread, when all is written."""
        held = bool(self._held)
        if held:
            self._heard.append(when_written)
        return held

    def close(self) -> None:
        """Write what is held, if that is possible now, and close the file."""
        if self._held and self.patience.room_of is not None:
            try:
                self._write_held()
            except VrError as error:
                self.patience.room_of(self.path.parent).lost(
                    self.path.name, len(self._held), str(error)
                )
        super().close()

    def _failed(self, item: PendingWork, error: BaseException) -> tuple[Any, BaseException | None]:
        fault = cause(error)
        # A file that never opened was unusable before anything was paid for: do not hold writes.
        passing = is_full(fault) or (self._was_open and is_passing(fault))
        if fault is None or item.otherwise is None or self.patience.room_of is None or not passing:
            return super()._failed(item, error)
        room = self.patience.room_of(self.path.parent)
        if not is_busy(fault) and room.give_up():
            with suppress(*FAULTS, NotBegunError):
                return self._transact_anew([item])[0], None
        if not item.otherwise:
            return super()._failed(item, error)
        (result,) = item.otherwise
        try:
            (result,) = self._transact([item._replace(begin=_LOOK)])
        except (*FAULTS, NotBegunError):
            pass
        except BaseException as own:  # noqa: BLE001 - for whoever waits for it
            return None, own
        self._held.append(item)
        room.wait_for(self._write_held, explained(self.path, fault))
        return result, None

    def _opened(self) -> sqlite3.Connection:
        connection = super()._opened()
        self._was_open = True
        return connection

    def _transact(self, items: list[PendingWork]) -> list[Any]:
        begin = items[0].begin if items else WRITE
        held = [] if begin == READ else self._held[:]
        if not held and begin != _LOOK:
            return self._begun(items)
        try:
            connection = self._opened()
            # Else SQLite would write out pages that do not fit into its memory.
            connection.execute("PRAGMA cache_spill=OFF")
            connection.execute(begin)
        except FAULTS as error:
            raise NotBegunError from error
        try:
            for item in held:
                with suppress(VrError):  # others may have changed what it was to change
                    item.work(connection)
            results = [item.work(connection) for item in items]
            if begin == WRITE:
                connection.commit()
        finally:
            connection.rollback()
        if begin == WRITE:
            self._held.clear()
            while self._heard:
                self._heard.pop()()
        return results

    def _begun(self, items: list[PendingWork]) -> list[Any]:
        try:
            results = super()._transact(items)
        except NotBegunError as error:
            fault = cause(error)
            if items[0].begin != READ or self._connection is not None or fault is None:
                raise
            from vr_kernel.storage.read_only import read_unwritable

            works = [item.work for item in items]
            found = read_unwritable(self.path, works, fault, self._schema)
            if found is None:
                raise
            self.unwritable = True
            return found
        self.unwritable = False
        return results

    def _write_held(self) -> None:
        self.run_blocking(lambda _connection: None)
