"""Stores that know which journal they follow, and functions that connect a store to its journal."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol, TypeGuard

from vr_kernel.errors import VrError
from vr_kernel.records import RecordKind
from vr_kernel.state.journal import INCOMPLETE, JournalContinuity, JournalTable, Position
from vr_kernel.stores import Store


@dataclass(frozen=True, slots=True)
class StoreStatus:
    """State of a store: sequence numbers of the journal, and counts."""

    store: str
    recorded: int
    delivered: int
    pending_vectors: int
    refused: int


class FollowingStore(Store, Protocol):
    """A store that knows the journal it follows, so that the loss of the journal is noticed.

    With its cursor it keeps the opening of the last change, `Change.opening`, and the identity of
    the journal that it follows. It keeps the same for journals that it followed before. A store
    that others fill as well has the attribute `shared` set to True.
    """

    async def positions(self) -> list[Position]:
        """Its positions: in the journal that it follows, then in each earlier one.

        The journal's name is empty for a cursor that an earlier version kept without it.
        """

    async def follow(self, position: Position) -> None:
        """Follow that journal from there on. Records and positions of other journals are kept."""

    async def restart(self, journal: str, *, empty: bool) -> Path | None:
        """Follow that journal from its beginning, and forget the positions of others.

        With `empty` it is emptied, unless others keep records in it. Returns the file that keeps
        what it gave up, if there is one.
        """


def follows(store: Store | None) -> TypeGuard[FollowingStore]:
    """True for a store that knows which journal it follows."""
    return hasattr(store, "positions")


async def join(store: Store, journal: JournalTable, kinds: Sequence[RecordKind]) -> bool:
    """Connect a store to the journal at first use; False where nothing may be written to do so."""
    try:
        await bring_together(store, journal)
        await journal.fold(kinds)
    except VrError:
        if not journal.unwritable:
            raise
        return False  # records that the store has are still found
    return True


async def bring_together(store: Store, journal: JournalTable) -> None:
    """Make sure that new records reach the store, and that it keeps what it has."""
    await journal.last_seq()  # its file may have been replaced by now
    continuity = journal.continuity
    if continuity.followed and continuity.followed == continuity.journal:
        return
    if follows(store):
        await _follow(store, continuity)
    else:
        await _stay_ahead(store, journal)
    continuity.followed = continuity.journal


async def _stay_ahead(store: Store, journal: JournalTable) -> None:
    """Raise the journal's numbers above the cursor of a store that does not know its journal."""
    here, cursor = await journal.continuity.attended(), await store.cursor()
    if cursor > here.seq:
        await journal.continuity.miss(Position(f"that of the store {store.name}", "", cursor))
        await journal.continue_after(cursor)
        await journal.continuity.look()


async def restart(
    store: Store,
    opened: Callable[[], Awaitable[object]],
    continuity: JournalContinuity,
    *,
    empty: bool,
) -> Path | None:
    """Have the store follow the journal from its beginning, and accept what the journal lacks.

    `opened` opens the store. With `empty`, a store that is damaged as well is given up.
    """
    try:
        await opened()
        await continuity.accept()
    except VrError as error:
        if not empty or error.category != INCOMPLETE:
            raise
        await continuity.attended()
    kept = await store.restart(continuity.journal, empty=empty) if follows(store) else None
    await continuity.accept()
    return kept


async def _follow(store: FollowingStore, continuity: JournalContinuity) -> None:
    """Have the store follow the journal from the last number at which both agree.

    If the store knows numbers that this file never gave out, the journal continues in a new line,
    so that new records reach the store and none of them is taken for one it has.
    """
    shared = getattr(store, "shared", False)
    here = await continuity.attended()
    positions = await store.positions()
    held = {each.journal: each for each in positions}
    own = held.get(here.journal) or held.get("")
    if own is not None and own.journal:
        if not await continuity.covers(own):
            here = await continuity.diverge(own)
            await store.follow(Position(here.journal, here.opening, own.seq))
        else:
            await store.follow(own)
    elif own is not None and (own.seq or len(held) == 1):
        if own.seq > here.seq:  # the journal of an earlier version was lost
            here = await continuity.diverge(own)
        await store.follow(Position(here.journal, here.opening if own.seq else "", own.seq))
    else:
        most = max(positions, key=lambda each: each.seq, default=None)
        if most is not None and not shared and most.seq > here.seq:
            here = await continuity.diverge(most, begun=True)
        await store.follow(Position(here.journal, "", await continuity.begun()))
    if not shared:
        await continuity.hear((await store.positions())[1:])
