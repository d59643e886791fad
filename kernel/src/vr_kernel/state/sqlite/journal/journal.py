"""The journal's file: every record in order, the source that stores index."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from functools import cached_property, partial
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from vr_kernel.errors import VrError

if TYPE_CHECKING:
    from vr_kernel.records import Change, RecordKind, Source
    from vr_kernel.state.entries import Entry
    from vr_kernel.state.journal import Undeclared
    from vr_kernel.state.pins import Pin
    from vr_kernel.state.sqlite.fenced import Work
    from vr_kernel.state.sqlite.journal.continuity import FileContinuity
    from vr_kernel.state.sqlite.journal.source_keeping import SourceKeeping
    from vr_kernel.storage.kept_database import KeptDatabase
    from vr_kernel.stores import StoredRecord

T = TypeVar("T")


class SqliteJournal:
    """The journal in a file; see `JournalTable`.

    A commit survives the loss of the process and of power.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        ledger: Callable[[], KeptDatabase] | None = None,
        store: Callable[[], str] = lambda: "embedded",
    ) -> None:
        """`ledger` opens what identifies this file; `tell` is called with what this file lacks.

        `store` names the store that may have it.
        """
        self.folder: Path | None = path.parent
        self.path, self._open_ledger, self._tell, self._store = path, ledger, tell, store
        self._kinds: dict[str, RecordKind] = {}

    @cached_property
    def _ledger(self) -> KeptDatabase | None:
        return self._open_ledger() if self._open_ledger else None

    @cached_property
    def _database(self) -> KeptDatabase:
        from vr_kernel.state.sqlite.journal.schema import HISTORY, PINNING, RECORDS, SOURCES
        from vr_kernel.storage.kept_database import KeptDatabase

        patience = None if self._ledger is None else self._ledger.patience
        how: Any = {"tell": self._tell, "patience": patience, "synchronous": "FULL"}
        return KeptDatabase(self.path, RECORDS + HISTORY + SOURCES + PINNING, **how)

    @cached_property
    def continuity(self) -> FileContinuity:
        """Notices when the file lacks what it had, and knows which store follows it."""
        from vr_kernel.state.sqlite.journal.continuity import FileContinuity

        return FileContinuity(self._database, self._ledger, self._tell, self._store())

    @cached_property
    def _sources(self) -> SourceKeeping:
        from vr_kernel.state.sqlite.journal.source_keeping import SourceKeeping

        return SourceKeeping(self._kinds, self._database.run_later)

    def declare(self, kinds: Collection[RecordKind]) -> None:
        """Learn which fields of these kinds name a record's source, its title, its artifacts."""
        self._kinds |= {kind.name: kind for kind in kinds}

    def holds(self, when_written: Callable[[], object]) -> bool:
        """Say if paid entries wait in memory; if so, call back, in a thread, once written."""
        return self._database.holds(when_written)

    async def commit(
        self,
        entries: Sequence[Entry],
        *,
        workspace: str,
        provenance: Mapping[str, Any],
        paid: bool = False,
        fence: int | None = None,
    ) -> int:
        """Write all entries or none, and return the highest sequence number."""
        from vr_kernel.state.sqlite.journal.writing import made_rows

        rows = made_rows(entries, workspace, provenance)
        work: Work[int] = partial(self._sources.put, entries=entries, rows=rows)
        if fence is not None and self._ledger is not None:
            from vr_kernel.state.sqlite.fenced import fenced

            work = fenced(work, self._database, self._ledger.path, fence)
        return await self.continuity.write(work, paid=paid)

    async def check(self) -> None:
        """Check that records can be written now; writes only what the first record needs."""
        await self.continuity.attended()
        await self._database.run(lambda _connection: None)

    async def changes(
        self,
        after: int,
        limit: int = 500,
        kinds: Collection[str] = (),
        workspace: str | None = None,
    ) -> list[Change]:
        """Up to `limit` changes with a sequence number above `after`, rising."""
        from vr_kernel.state.sqlite.journal.reading import Choice, read_after

        choice, leave_out = Choice(kinds, workspace), self._database.leave_out
        return await self.continuity.read(
            partial(read_after, choice=choice, after=after, limit=limit, leave_out=leave_out)
        )

    async def keys(self, kind: str, workspace: str) -> list[str]:
        """The keys of all records of a kind, sorted."""
        from vr_kernel.state.sqlite.journal.reading import read_keys

        return await self.continuity.read(partial(read_keys, kind=kind, workspace=workspace))

    async def has(self, workspace: str, records: Collection[tuple[str, str]]) -> bool:
        """Return True when all of these records, as kind and key, exist and none is deleted."""
        from vr_kernel.state.sqlite.journal.presence import present

        return await self.continuity.read(partial(present, workspace=workspace, records=records))

    async def former(self, workspace: str, kind: str, key: str) -> list[Change]:
        """Former versions of a record, the latest first, for kinds that keep a history."""
        from vr_kernel.state.sqlite.journal.reading import read_former

        place, leave_out = (workspace, kind, key), self._database.leave_out
        return await self.continuity.read(partial(read_former, place=place, leave_out=leave_out))

    async def forget_former(self, workspace: str, before: str, kind: str | None = None) -> int:
        """Delete former versions made before that moment, of one kind or all; returns how many."""
        from vr_kernel.state.sqlite.journal.writing import forget_before

        return await self._database.run(
            partial(forget_before, workspace=workspace, before=before, kind=kind)
        )

    async def fold(self, kinds: Sequence[RecordKind]) -> None:
        """Move records that were kept one by one under the key of their subject."""
        from vr_kernel.state.sqlite.journal.writing import fold, read_folded

        asked = [kind for kind in kinds if kind.history]
        done = await self.continuity.read(read_folded) if asked else set()
        for kind in asked:
            if kind.name not in done:  # nothing is written when there is nothing to fold
                work = partial(fold, kind=kind.name, key_of=kind.identify)
                await self.continuity.write(partial(self._sources.keep, work=work))

    async def touch(self, records: Sequence[tuple[str, str, str]]) -> None:
        """Give records, as workspace, kind and key, new sequence numbers: stores see them again."""
        from vr_kernel.state.sqlite.journal.writing import renumber

        work = partial(renumber, records=records)
        await self.continuity.write(partial(self._sources.keep, work=work, places=records))

    async def continue_after(self, cursor: int) -> None:
        """Give every record a number above `cursor`, for a store that is ahead of this journal."""
        from vr_kernel.state.sqlite.journal.writing import shift

        await self.continuity.write(partial(shift, cursor=cursor))

    async def recover(self, workspace: str, records: Sequence[StoredRecord]) -> list[StoredRecord]:
        """Record unchanged what a store holds and the journal lacks; returns these records."""
        from vr_kernel.state.sqlite.journal.recovery import recover

        work = partial(recover, workspace=workspace, records=records)
        places = [(workspace, record.kind, record.key) for record in records]
        return await self.continuity.write(partial(self._sources.keep, work=work, places=places))

    async def record(self, workspace: str, kind: str, key: str) -> Change | None:
        """One record; None when there is none, or it is deleted or damaged."""
        from vr_kernel.state.sqlite.journal.reading import read_one

        place, leave_out = (workspace, kind, key), self._database.leave_out
        return await self.continuity.read(partial(read_one, place=place, leave_out=leave_out))

    async def sources(
        self, workspace: str, after: int | None = None, limit: int = 100, kind: str = ""
    ) -> list[Source]:
        """Up to `limit` sources of live records, the highest `seq` first."""
        from vr_kernel.state.sqlite.journal.source_reading import read_sources

        chosen: Any = {"workspace": workspace, "after": after, "limit": limit, "kind": kind}
        return await self._read_sources(partial(read_sources, **chosen))

    async def source(self, workspace: str, id: str) -> Source | None:  # noqa: A002 - the word for it
        """One source, by its id; None when no live record is about it."""
        from vr_kernel.state.sqlite.journal.source_reading import read_source

        return await self._read_sources(partial(read_source, workspace=workspace, name=id))

    async def of_source(
        self,
        workspace: str,
        id: str,  # noqa: A002 - the word for it
        after: int = 0,
        limit: int = 500,
    ) -> list[Change]:
        """Up to `limit` live records about a source with a number above `after`, rising."""
        from vr_kernel.state.sqlite.journal.source_reading import read_of_source

        place, leave_out = (workspace, id), self._database.leave_out
        return await self._read_sources(
            partial(read_of_source, place=place, after=after, limit=limit, leave_out=leave_out)
        )

    async def _read_sources(self, work: Work[T]) -> T:
        """Read sources; those of an earlier version's records are found first, where they may be.

        Where nothing can be written now, those that are known are read.
        """
        from vr_kernel.state.sqlite.journal.source_reading import are_kept
        from vr_kernel.storage.database import READ_WAIT_S

        sources = self._sources
        whole = await self.continuity.read(lambda it: are_kept(it) and sources.is_complete(it))
        if not whole:
            with suppress(VrError):
                await self._database.run(sources.complete, wait_s=READ_WAIT_S)
        return await self.continuity.read(work)

    async def pins(self) -> set[Pin]:
        """The artifacts that live records need, of all workspaces."""
        from vr_kernel.state.sqlite.journal.pins import collect_pins

        return await collect_pins(self.continuity.read, self._kinds)

    async def undeclared(self, workspace: str, kinds: Collection[str]) -> list[Undeclared]:
        """Count the records of kinds that are not among these: their plugins are not loaded."""
        from vr_kernel.state.sqlite.journal.undeclared import undeclared

        return await self.continuity.read(partial(undeclared, workspace=workspace, known=kinds))

    async def elsewhere(self, workspace: str, kinds: Collection[str]) -> dict[str, int]:
        """Count the live records of each other workspace, of some kinds or of all."""
        from vr_kernel.state.sqlite.journal.presence import count_elsewhere

        work = partial(count_elsewhere, workspace=workspace, kinds=kinds)
        return await self.continuity.read(work)

    async def last_seq(self) -> int:
        """The highest sequence number given out, 0 for an empty journal."""
        from vr_kernel.state.sqlite.journal.schema import highest_seq

        return await self.continuity.read(highest_seq)

    async def count(self, after: int = 0) -> int:
        """Count the records and deletions with a sequence number above `after`."""
        from vr_kernel.state.sqlite.journal.presence import count_after

        return await self.continuity.read(partial(count_after, after=after))

    async def home(self) -> str:
        """The state folder in which this journal was begun, wherever the journal is now."""
        here = str(self.path.parent)
        if not self.path.exists():
            return here
        with suppress(VrError):
            return await self.continuity.home()
        return here

    @property
    def unwritable(self) -> bool:
        """True when it is read in a folder where nothing may be written."""
        return self._database.unwritable

    @property
    def left_out(self) -> int:
        """Number of damaged rows found so far; none of them reached a store."""
        return self._database.left_out

    async def aclose(self) -> None:
        """Save the journal's position in the ledger, and close the file."""
        if "continuity" in vars(self):
            with suppress(VrError):  # a damaged journal was reported when it was used
                await self.continuity.close()
        self.close()

    @property
    def holding(self) -> bool:
        """True while something waits in memory to be written."""
        return self._database.holding

    def close(self) -> None:
        """Close the file."""
        if "_database" in vars(self):
            self._database.close()
