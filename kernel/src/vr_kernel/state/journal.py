"""The journal: every record in order, and the table that keeps it."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Protocol

from vr_kernel.errors import Code, VrError

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.records import Change, RecordKind, Source
    from vr_kernel.state.entries import Entry
    from vr_kernel.state.pins import Pin
    from vr_kernel.stores import StoredRecord

INCOMPLETE = "JOURNAL_INCOMPLETE"
"""Category of the error of any step that would make a loss of records final."""


@dataclass(frozen=True, slots=True)
class Position:
    """Position of a journal: its identity, and a number with the opening that gave it out.

    An opening is one process's time with the journal; it is empty where it is not known.
    """

    journal: str
    opening: str
    seq: int


@dataclass(frozen=True, slots=True)
class Undeclared:
    """A kind that has records but no declaration; `plugins` wrote them, most first."""

    kind: str
    count: int
    plugins: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Loss:
    """Records that a journal lacks and that are known of elsewhere, in one sentence."""

    what: str
    ways_out: str
    journals: tuple[str, ...]

    @property
    def error(self) -> VrError:
        """The error of any step that would make the loss final."""
        return VrError(
            f"{self.what} Nothing is rebuilt from it.",
            Code.UNAVAILABLE,
            category=INCOMPLETE,
            hint=self.ways_out,
        )

    def note_for(self, *, owner: bool) -> str:
        """The note on results while the loss lasts; only the owner is told the ways out."""
        if not owner:
            return "Not all that was recorded is there any more: ask the owner of the server."
        return f"{self.what} What is recorded now is kept. {self.ways_out}"


class JournalContinuity(Protocol):
    """Tells if a journal still has what it had, and what connects it with a store that follows.

    Attributes:
        loss: what the journal lacks, as far as is known.
        journal: its identity, empty before it has one.
        told: whether a loss is reported elsewhere, so that it need not be logged.
        followed: the identity under which the store follows it; empty before it does.
    """

    loss: Loss | None
    journal: str
    told: bool
    followed: str

    @property
    def refusal(self) -> VrError | None:
        """The error of rebuilding a store while the journal lacks records, else None."""

    async def is_readable(self) -> bool:
        """Return False for a journal that is damaged."""

    async def lacks(self, *, owner: bool = True) -> str:
        """The note on results, for the owner or others, while the journal lacks something."""

    async def look(self) -> Loss | None:
        """Find out what the journal lacks, and report it once."""

    async def attended(self) -> Position:
        """The position of the journal, checked and with an identity.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be used.
        """

    async def begun(self) -> int:
        """The number after which the journal has its present identity."""

    async def covers(self, position: Position) -> bool:
        """Return True if this journal gave out that number."""

    async def lacks_any(self, positions: Iterable[Position]) -> bool:
        """Return True when a store has reached numbers that this journal never gave out."""

    async def missing(self, held: Sequence[Position]) -> int:
        """Count the known changes that are neither in this journal nor within `held`."""

    async def miss(self, found: Position) -> None:
        """Remember that a store has what this journal lacks; `look` reports it."""

    async def hear(self, positions: Iterable[Position]) -> None:
        """Remember the positions that a store knows."""

    async def diverge(self, found: Position, *, begun: bool = False) -> Position:
        """Go on above a number of this journal that a store knows and that it never gave out here.

        Args:
            found: what the store knows.
            begun: both share only what was there when the journal got its present identity.
        """

    async def accept(self) -> None:
        """Accept the journal as it is: what others had no longer counts as missing.

        Raises:
            VrError: UNAVAILABLE when that cannot be written.
        """


class JournalTable(Protocol):
    """Records by (workspace, kind, key), each under the sequence number of its last change.

    Writing a key again moves it to a new, higher number, so that a store that reads on from its
    cursor sees every change. No number is given out twice. What writes is done whole or not at all.

    Every method raises `VrError` UNAVAILABLE when the journal cannot be read or written.
    """

    @property
    def folder(self) -> Path | None:
        """The folder of this machine in which it needs room; None when it is elsewhere."""

    @property
    def continuity(self) -> JournalContinuity:
        """The check that the journal still has what it had."""

    @property
    def left_out(self) -> int:
        """The number of damaged rows found so far; none of them reached a store."""

    @property
    def unwritable(self) -> bool:
        """True when it is read where nothing may be written."""

    def holds(self, when_written: Callable[[], object]) -> bool:
        """Say if paid entries wait in memory; if so, call back, in a thread, once written."""

    async def commit(
        self,
        entries: Sequence[Entry],
        *,
        workspace: str,
        provenance: Mapping[str, Any],
        paid: bool = False,
        fence: int | None = None,
    ) -> int:
        """Write all entries or none, and return the highest sequence number.

        `provenance` applies to all entries and overrides that of an entry. Entries that were `paid`
        for are held in memory while there is no room for them; see `holds`. With a `fence`, the
        token of a lease, they are written only while that lease is there: an owner that stood still
        writes nothing over what its successor has written.

        Raises:
            VrError: INVALID_INPUT for a name with a NUL or a lone surrogate; CONFLICT, category
                LEASE_LOST, when the lease of the fence is gone.
        """

    async def check(self) -> None:
        """Check that records can be written now."""

    async def changes(
        self,
        after: int,
        limit: int = 500,
        kinds: Collection[str] = (),
        workspace: str | None = None,
    ) -> list[Change]:
        """Up to `limit` changes with a sequence number above `after`, rising.

        Damaged ones are left out and reported.

        Args:
            after: the last number that was read.
            limit: of changes.
            kinds: only these; all when empty.
            workspace: only this one; all when None.
        """

    async def keys(self, kind: str, workspace: str) -> list[str]:
        """The keys of all records of a kind, sorted."""

    async def has(self, workspace: str, records: Collection[tuple[str, str]]) -> bool:
        """Return True when all of these records, as kind and key, exist and none is deleted."""

    async def former(self, workspace: str, kind: str, key: str) -> list[Change]:
        """Former versions of a record, the latest first, for kinds that keep a history."""

    async def forget_former(self, workspace: str, before: str, kind: str | None = None) -> int:
        """Delete former versions made before that moment, of one kind or all; returns how many."""

    async def fold(self, kinds: Sequence[RecordKind]) -> None:
        """Move records that were kept one by one under the key of their subject.

        For kinds that keep a history; done once per kind.
        """

    async def touch(self, records: Sequence[tuple[str, str, str]]) -> None:
        """Give records, as workspace, kind and key, new sequence numbers: stores see them again."""

    async def continue_after(self, cursor: int) -> None:
        """Give every record a number above `cursor`, for a store that is ahead of this journal."""

    async def recover(self, workspace: str, records: Sequence[StoredRecord]) -> list[StoredRecord]:
        """Record unchanged what a store holds and the journal lacks; returns these records.

        What was recorded or deleted here since the loss takes precedence.
        """

    def declare(self, kinds: Collection[RecordKind]) -> None:
        """Learn which fields of these kinds name a record's source, its title and its artifacts.

        What is known of other kinds stays. Nothing is opened or read.
        """

    async def record(self, workspace: str, kind: str, key: str) -> Change | None:
        """One record; None when there is none, or it is deleted or damaged."""

    async def sources(
        self, workspace: str, after: int | None = None, limit: int = 100, kind: str = ""
    ) -> list[Source]:
        """Up to `limit` sources of live records, the highest `seq` first; see `Journal.sources`.

        They change together with the records: in the same transaction.
        """

    async def source(self, workspace: str, id: str) -> Source | None:  # noqa: A002 - the word for it
        """One source, by its id; None when no live record is about it."""

    async def of_source(
        self,
        workspace: str,
        id: str,  # noqa: A002 - the word for it
        after: int = 0,
        limit: int = 500,
    ) -> list[Change]:
        """Up to `limit` live records about a source with a number above `after`, rising."""

    async def pins(self) -> set[Pin]:
        """The artifacts that live records need, of all workspaces; see `RecordKind.pins`.

        Those of kinds that were declared once, too, and all that a damaged record may need.
        """

    async def undeclared(self, workspace: str, kinds: Collection[str]) -> list[Undeclared]:
        """Count the records of kinds that are not among these: their plugins are not loaded."""

    async def elsewhere(self, workspace: str, kinds: Collection[str]) -> dict[str, int]:
        """Count the live records of each other workspace, of some kinds or of all."""

    async def last_seq(self) -> int:
        """The highest sequence number given out, 0 for an empty journal."""

    async def count(self, after: int = 0) -> int:
        """Count the records and deletions with a sequence number above `after`."""

    async def home(self) -> str:
        """A name for the place in which this journal was begun, which stays when it is moved.

        Cache keys of results that belong to its records contain it: they are found again after a
        journal was moved or restored, and also after it was lost.
        """

    async def aclose(self) -> None:
        """Save what must outlive the process, and close; a later use opens it again."""
