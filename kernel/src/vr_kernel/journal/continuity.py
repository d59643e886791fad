"""Whether the journal still has what it had: an emptied, older or foreign file is noticed."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from vr_kernel.database import Database
from vr_kernel.errors import Code, VrError
from vr_kernel.journal.known import Known
from vr_kernel.journal.lineage import Lineage, Position, begin, new_opening

T = TypeVar("T")
CATEGORY = "JOURNAL_INCOMPLETE"
WAYS_OUT = (
    "Put the right journal.db back; or `vr knowledge migrate --from STORE` records what only the"
    " store has (embedded or weaviate); or `vr store begin-anew` gives it up."
)


@dataclass(frozen=True, slots=True)
class Loss:
    """What a journal lacks that is known of elsewhere, in one sentence."""

    what: str
    journals: tuple[str, ...]

    @property
    def error(self) -> VrError:
        """The refusal of what would make the loss final."""
        return VrError(
            f"{self.what} Nothing is rebuilt from it.",
            Code.UNAVAILABLE,
            category=CATEGORY,
            hint=WAYS_OUT,
        )

    @property
    def note(self) -> str:
        """What results say while it lasts."""
        return f"{self.what} What is recorded now is kept. {WAYS_OUT}"


def find_loss(lineage: Lineage, known: Sequence[Position]) -> Loss | None:
    """What a journal lacks of what is known."""
    gone = [each for each in known if each.seq and not lineage.covers(each)]
    if not gone:
        return None
    names = tuple(each.journal for each in gone)
    older = [each for each in gone if lineage.knows(each.journal)]
    if older:
        most = max(older, key=lambda each: each.seq)
        agreed = lineage.agreed(most)
        said = f"is an older copy: it ends at change {agreed:,} of {most.seq:,}."
    elif not lineage.begun and (not lineage.last or lineage.journal in {k.journal for k in known}):
        most = max(gone, key=lambda each: each.seq)
        said = f"was emptied or deleted: {most.seq:,} changes were recorded in the one before."
    else:
        most = max(gone, key=lambda each: each.seq)
        said = f"is a foreign one: the one before, of {most.seq:,} changes, was another."
    return Loss(f"The journal {said}", names)


class Continuity:
    """Looks after one journal: once for each time that its file is opened.

    Args:
        database: the journal's.
        ledger: where is kept what the journal had; None for a journal that stands alone.
        tell: told once of a loss.
    """

    def __init__(
        self, database: Database, ledger: Database | None, tell: Callable[[VrError], None]
    ) -> None:
        self.loss: Loss | None = None
        self._database = database
        self._known = Known(ledger) if ledger else None
        self._tell_fault = tell
        self._home = str(database.path.parent)
        self._present: sqlite3.Connection | None = None
        self._looked: sqlite3.Connection | None = None
        self._attended: sqlite3.Connection | None = None
        self._opening = ""
        self._told = ""

    def reading(self, work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
        """The work, after which `is_seen` tells whether the file is the one that was looked at."""

        def read(connection: sqlite3.Connection) -> T:
            self._present = connection
            return work(connection)

        return read

    def writing(self, work: Callable[[sqlite3.Connection], T]) -> Callable[[sqlite3.Connection], T]:
        """The work, in an opening of this process.

        Raises:
            NotAttendedError: when the file is another one than was attended to.
        """
        tried = False

        def write(connection: sqlite3.Connection) -> T:
            nonlocal tried
            if connection is not self._attended and not tried:
                raise NotAttendedError
            tried = True  # it may be held until the file is opened anew
            begin(connection, self._opening, self._home)
            return work(connection)

        return write

    @property
    def is_seen(self) -> bool:
        """Whether the file that was read last has been looked at."""
        return self._present is self._looked

    async def look(self) -> Loss | None:
        """Find out what the journal lacks, and say it once."""
        known = await self._known.list() if self._known else []

        def read(connection: sqlite3.Connection) -> Loss | None:
            self._looked = connection
            return find_loss(Lineage(connection), known)

        self._tell(await self._database.read(read))
        return self.loss

    async def attend(self) -> None:
        """Look, then begin a line of its own where this file would go on with another's numbers.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        known = await self._known.list() if self._known else []
        self._opening = new_opening()

        def settled(connection: sqlite3.Connection) -> tuple[Loss | None, Position] | None:
            lineage = Lineage(connection)
            if not lineage.journal or _must_diverge(lineage, known):
                return None
            self._attended = self._looked = connection
            return find_loss(lineage, known), lineage.position

        def settle(connection: sqlite3.Connection) -> tuple[Loss | None, Position]:
            lineage = Lineage(connection)
            loss = find_loss(lineage, known)
            if _must_diverge(lineage, known):
                most = max(each.seq for each in known)
                gone = [each for each in known if not lineage.covers(each)]
                own = [each for each in gone if each.journal == lineage.journal]
                agreed = min(map(lineage.agreed, own), default=lineage.last)
                lineage.diverge(agreed, most, self._opening, self._home)
            begin(connection, self._opening, self._home)
            self._attended = self._looked = connection
            return loss, Lineage(connection).position

        # As a rule there is nothing to write, and who commits waits for one transaction.
        found = await self._database.read(settled)
        if found is None:
            found = await self._database.run(settle)
        loss, position = found
        self._tell(loss)
        if self._known and position.journal not in {each.journal for each in known}:
            await self._known.put(position)

    async def diverge(self, found: Position, agreed: int | None) -> None:
        """Begin a new line: a store knows a number of this journal that it never gave out here.

        Args:
            found: what the store knows.
            agreed: up to which number both are the same; left out, it is worked out.
        """
        if self._known:
            await self._known.put(found)

        def write(connection: sqlite3.Connection) -> None:
            lineage = Lineage(connection)
            since = lineage.agreed(found) if agreed is None else agreed
            lineage.diverge(since, found.seq, new_opening(), self._home)

        await self._database.run(write)
        self._attended = None
        await self.attend()
        await self.look()

    async def close(self) -> None:
        """Keep how far the journal has come, when this process wrote in it."""
        if self._known and self._attended is not None:
            self._attended = None
            await self._known.put(await self.position())

    async def position(self) -> Position:
        """Where the journal stands."""
        return await self._database.read(lambda connection: Lineage(connection).position)

    async def home(self) -> str:
        """The state folder that the journal was begun in; from now on, if that is not known.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be read, or that not be kept.
        """

        def read(connection: sqlite3.Connection) -> str:
            return Lineage(connection).home

        found = await self._database.read(read)
        if not found:
            await self.attend()
        return found or self._home

    async def accept(self) -> None:
        """Let the journal be what it is: what others had is not missed any more.

        Raises:
            VrError: UNAVAILABLE when that cannot be written.
        """
        await self.attend()
        if self._known:
            own = (await self.position()).journal
            others = [each.journal for each in await self._known.list() if each.journal != own]
            await self._known.forget(others)
        await self.look()

    def _tell(self, loss: Loss | None) -> None:
        self.loss = loss
        if loss is not None and loss.what != self._told:
            self._tell_fault(loss.error)
        self._told = loss.what if loss else ""


class NotAttendedError(Exception):
    """The journal's file is another one than was looked at before it was written."""


def _must_diverge(lineage: Lineage, known: Sequence[Position]) -> bool:
    """Whether the next numbers would be taken for those of what is lost."""
    gone = [each for each in known if each.seq and not lineage.covers(each)]
    if not gone:
        return False
    here = {each.journal for each in known}
    return (
        lineage.journal not in here
        or any(each.journal == lineage.journal for each in gone)
        or lineage.last < max(each.seq for each in gone)
    )
