"""Continuity of the journal: a file that was emptied, or is older or foreign, is noticed."""

from __future__ import annotations

import asyncio
import sqlite3
from collections.abc import Callable, Iterable, Sequence
from typing import TypeVar

from vr_kernel.errors import VrError
from vr_kernel.state.journal import Loss, Position
from vr_kernel.state.sqlite.journal.known import Known, NotAttendedError
from vr_kernel.state.sqlite.journal.lineage import Lineage, begin, new_opening, read_known_position
from vr_kernel.state.sqlite.journal.loss import count_missing, find_loss, note_of_unwritable
from vr_kernel.state.sqlite.journal.schema import add_index, is_indexed
from vr_kernel.state.sqlite.journal.settling import Settled, find_settled, settle_anew
from vr_kernel.storage.database import Database
from vr_kernel.storage.database_faults import DAMAGED
from vr_kernel.storage.kept_database import KeptDatabase

T = TypeVar("T")


class FileContinuity:
    """Checks one journal, once each time that its file is opened; see `JournalContinuity`.

    Args:
        database: the journal's.
        ledger: keeps what the journal had; None for a journal that stands alone.
        tell: called once about a loss.
        store: the configured store's name.
    """

    def __init__(
        self,
        database: KeptDatabase,
        ledger: Database | None,
        tell: Callable[[VrError], None],
        store: str,
    ) -> None:
        self.loss: Loss | None = None
        self.damage: VrError | None = None
        self.journal = self.followed = ""
        self.told = False
        self._database = database
        self._known = Known(ledger)
        self._tell_fault, self._store, self._home = tell, store, str(database.path.parent)
        self._present: sqlite3.Connection | None = None
        self._looked: sqlite3.Connection | None = None
        self._attended: sqlite3.Connection | None = None
        self._opening = ""
        self._told: set[str] = set()
        self._attending = asyncio.Lock()

    async def read(self, work: Callable[[sqlite3.Connection], T]) -> T:
        """Read with `work`; a file that was not read before is checked first.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be read.
        """

        def read(connection: sqlite3.Connection) -> T:
            self._present = connection
            return work(connection)

        try:
            found = await self._database.read(read)
        except VrError as error:
            if error.category == DAMAGED and self.damage is None:
                self._tell_fault(error)
                self.damage = error
            raise
        self.damage = None
        if self._present is not self._looked:
            await self.look()
        return found

    async def write(self, work: Callable[[sqlite3.Connection], T], *, paid: bool = False) -> T:
        """Run `work` in an opening of this process; a file that was replaced is attended to first.

        What was `paid` for is held in memory while there is no room; returns 0 if it was not tried.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        file, tried = self._database, list[object]()

        def write(connection: sqlite3.Connection) -> T:
            if connection is not self._attended and not tried:
                raise NotAttendedError
            tried.append(connection)  # it may be held until the file is opened again
            begin(connection, self._opening, self._home)
            done = work(connection)
            latest.append(read_known_position(connection))  # another process's opening may be later
            return done

        while True:
            latest: list[Position] = []
            try:
                if paid and self._attended is None:  # held writes cannot be attended to
                    await self.attend()
                done: T = await (file.keep(write, 0) if paid else file.run(write))
            except NotAttendedError:  # the file was replaced, or not opened yet
                await self.attend()
            else:
                tried.append(file)
                if not file.holding:
                    self._known.latest = latest[-1]
                return done

    @property
    def refusal(self) -> VrError | None:
        """The error of rebuilding a store while the journal lacks records, else None."""
        return self.damage or (self.loss.error if self.loss else None)

    async def is_readable(self) -> bool:
        """True when the journal is not damaged; what else keeps it from being read is raised."""
        try:
            await self.read(lambda connection: connection.execute("SELECT max(seq) FROM record"))
        except VrError:
            if self.damage is None:
                raise
        return self.damage is None

    async def lacks(self, *, owner: bool = True) -> str:
        """The note on results, for the owner or others, while the journal lacks something."""
        if self.damage is not None:
            told = f"{self.damage.message} {self.damage.hint}" if owner else "It is damaged."
            return f"The journal cannot be read; what the store has is found. {told}"
        # Check again: the loss may have been resolved meanwhile.
        loss = await self.look() if self.loss is not None else None
        if loss is None and self._database.unwritable:
            return note_of_unwritable(self._home if owner else "The state folder")
        return loss.note_for(owner=owner) if loss else ""

    async def look(self) -> Loss | None:
        """Find out what the journal lacks, and report it once."""
        known = await self._known.all()

        def read(connection: sqlite3.Connection) -> tuple[Loss | None, sqlite3.Connection]:
            lineage = Lineage(connection)
            self.journal = lineage.journal
            return find_loss(lineage, known, self._store), connection

        self._tell(*await self._database.read(read))
        return self.loss

    async def attend(self, *, anew: bool = False) -> None:
        """Check the file (`anew`: again); begin a line if others gave out its next numbers.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        async with self._attending:  # the first writers come all at once
            if anew or not await self._database.read(lambda it: it is self._attended):
                await self._attend()

    async def _attend(self) -> None:
        known = await self._known.all()
        await self._known.put(self._known.latest)
        self.followed, opening = "", new_opening()

        def settled(connection: sqlite3.Connection) -> Settled | None:
            found = find_settled(connection, known, self._store)
            if found is not None:
                self._opening, self._attended = opening, connection
            return found

        def settle(connection: sqlite3.Connection) -> Settled:
            found = settle_anew(connection, known, self._store, opening, self._home)
            self._opening, self._attended = opening, connection
            return found

        # Usually there is nothing to write, and a commit waits for only one transaction.
        if (found := await self._database.read(settled)) is None:
            found = await self._database.run(settle)
        indexed = await self._database.read(is_indexed)
        if not indexed and not self._database.unwritable:  # a file of an earlier version
            self._database.run_later(add_index)
        loss, position = found
        self.journal = position.journal
        self._tell(loss, self._attended)
        if position.journal not in {each.journal for each in known}:
            await self._known.put(position)

    async def attended(self) -> Position:
        """The position of the journal, once it is attended to; it has an identity then."""
        await self.attend()
        return await self.position()

    async def diverge(self, found: Position, *, begun: bool = False) -> Position:
        """Begin a new line: a store knows a number of this journal that it never gave out here."""
        await self.miss(found)
        opening, before = new_opening(), self.journal

        def write(connection: sqlite3.Connection) -> tuple[Position, Position]:
            lineage = Lineage(connection)
            if lineage.journal == before:  # else another process was faster
                agreed = lineage.begun if begun else lineage.agreed(found)
                lineage.diverge(agreed, found.seq, opening, self._home)
            self._opening, self._attended = opening, connection
            lineage = Lineage(connection)
            return lineage.known, lineage.position

        known, here = await self._database.run(write)
        await self._known.put(known)
        await self.look()
        return here

    async def miss(self, found: Position) -> None:
        """Remember that a store has what this journal lacks; `look` reports it."""
        named = found if found.journal else Position("that of a version before", "", found.seq)
        self._known.hear([named])
        await self._known.put(named)

    async def hear(self, positions: Iterable[Position]) -> None:
        """Remember the positions that a store knows."""
        self._known.hear(positions)
        await self.look()

    async def lacks_any(self, positions: Iterable[Position]) -> bool:
        """Say if a store has reached numbers that this file never gave out."""
        here = await self.position()
        for each in positions:
            unnamed = not (each.journal and here.journal)
            if each.seq > here.seq if unnamed else each.seq and not await self.covers(each):
                return True
        return False

    async def missing(self, held: Sequence[Position]) -> int:
        """Count the known changes that are neither in this file nor within the positions `held`."""
        known = await self._known.all()
        return await self._database.read(lambda it: count_missing(Lineage(it), known, held))

    async def covers(self, position: Position) -> bool:
        """Say if this file gave out that number."""
        return await self._database.read(lambda connection: Lineage(connection).covers(position))

    async def begun(self) -> int:
        """The number after which the present line began."""
        return await self._database.read(lambda it: Lineage(it).begun)

    async def close(self) -> None:
        """Save the position of the journal, if this process wrote to it."""
        if self._attended is not None:
            self._attended = None
            await self._known.put(await self._database.read(lambda it: Lineage(it).known))

    async def position(self) -> Position:
        """The position of the journal."""
        return await self._database.read(lambda connection: Lineage(connection).position)

    async def home(self) -> str:
        """The state folder that the journal was begun in; the present one if that is not known.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be read, or the folder cannot be saved.
        """
        found = await self._database.read(lambda connection: Lineage(connection).home)
        if not found:
            await self.attend()
        return found or self._home

    async def accept(self) -> None:
        """Accept the journal as it is: what others had no longer counts as missing."""
        await self.attend(anew=True)
        await self._known.forget_others((await self.position()).journal)
        await self.look()

    def _tell(self, loss: Loss | None, looked: sqlite3.Connection | None) -> None:
        self.loss, self._looked = loss, looked  # only now does it count as checked
        lost = set(loss.journals) if loss else set()
        if loss is not None and not self.told and not lost <= self._told:
            self._tell_fault(loss.error)
        self._told = lost
