"""Commits records past any tool, for measures of journal and store; no public name does that."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, cast

from vr_kernel import Kernel
from vr_kernel.state import Entry

if TYPE_CHECKING:
    from vr_kernel.journal.store_follower import StoreFollower
    from vr_kernel.state.sqlite.journal.journal import SqliteJournal


async def commit(kernel: Kernel, entries: Sequence[Entry]) -> None:
    """Commit entries in one transaction, and wake the store that follows the journal."""
    journal = cast("SqliteJournal", kernel.services.journal)
    store = cast("StoreFollower", kernel.services.store)
    store.wake(await journal.commit(entries, workspace="default", provenance={}))
