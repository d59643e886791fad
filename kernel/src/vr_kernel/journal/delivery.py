"""Delivery of changes from the journal to a store; what it refuses is set aside."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.journal.dead_letters import DeadLetters
from vr_kernel.log import Log
from vr_kernel.records import Change
from vr_kernel.stores import Store
from vr_kernel.text.bounds import said

if TYPE_CHECKING:
    from vr_kernel.state.journal import JournalTable

BATCH = 500
TRIES = 5
"""Times that a store may refuse a record before it is set aside and the next ones go on."""
_OUTAGES = {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.BUDGET}


class Delivery:
    """Delivers what a store does not have yet, in order.

    Attributes:
        came_on: whether the store accepted something.
        any_refused: whether some of its records may be among the dead letters.
        position: the last sequence number that the store has; None while that is not known.
    """

    def __init__(self, journal: JournalTable, dead_letters: DeadLetters, log: Log) -> None:
        self.came_on = self.any_refused = False
        self.position: int | None = None
        self._journal = journal
        self._dead_letters = dead_letters
        self._log = log
        self._tries: Counter[int] = Counter()

    def expect(self, seq: int) -> None:
        """Assume that the store has everything up to a number, until it reports its cursor."""
        if self.position is None:
            self.position = seq

    async def deliver(self, store: Store) -> None:
        """Deliver everything after the store's cursor.

        Raises:
            Exception: what the store raises; try again later.
        """
        cursor = self.position = await store.cursor()
        changes = await self._journal.changes(cursor, BATCH)
        while changes:
            last = changes[-1].seq
            # The next changes are read while the store works, which takes most of the time.
            ahead = asyncio.create_task(self._journal.changes(last, BATCH))
            try:
                await self._put(store, changes)
                before, cursor = cursor, await store.cursor()
                if cursor == before:
                    self.came_on = False
                    raise RuntimeError("the store took changes, but its cursor stayed")
                self.position = cursor
                following = ahead if cursor == last else self._journal.changes(cursor, BATCH)
                changes = await following
            finally:
                ahead.cancel()
                await asyncio.gather(ahead, return_exceptions=True)

    async def _put(self, store: Store, changes: Sequence[Change]) -> None:
        """Let the store apply changes, halving them until the refused ones are found."""
        try:
            await PluginCode.apart(store.apply, changes)
        except Exception as error:
            if isinstance(error, VrError) and (error.retryable or error.code in _OUTAGES):
                raise  # the store is unavailable, whatever it is given
            if len(changes) == 1:
                await self._refuse(store, changes[0], error)
                return
            middle = len(changes) // 2
            await self._put(store, changes[:middle])
            await self._put(store, changes[middle:])
            return
        self.came_on = True
        if self.any_refused:
            taken = [(each.workspace, each.kind, each.key) for each in changes]
            await self._dead_letters.forget(store.name, taken)

    async def _refuse(self, store: Store, change: Change, error: Exception) -> None:
        """Count a refusal; after the last one the store gets the record's deletion instead."""
        self._tries[change.seq] += 1
        tries = self._tries[change.seq]
        if tries < TRIES:
            raise error
        await self._dead_letters.add(store.name, change, error, tries)
        self.any_refused = True
        # If the store refuses this, too, the store is at fault and not the record.
        await store.apply([replace(change, fields=None)])
        self.came_on = True
        del self._tries[change.seq]
        self._log.warning(
            "a record was set aside", store=store.name, kind=change.kind, error=said(error)
        )
