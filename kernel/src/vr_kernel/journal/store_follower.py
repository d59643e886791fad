"""Carries the journal's changes to the configured store, and asks that store questions."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Mapping, Sequence
from contextlib import suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.journal.dead_letters import DeadLetter, DeadLetters, reason_of
from vr_kernel.journal.journal import Journal
from vr_kernel.log import Log
from vr_kernel.providers import Hit, Providers, Query, Store, StoredRecord, close
from vr_kernel.records import Change, RecordKind
from vr_kernel.text.bounds import said

if TYPE_CHECKING:
    from vr_kernel.journal.following import StoreStatus

BATCH = 500
TRIES = 5
"""How often a store may refuse a record before it is set aside and the next ones go on."""
FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
ROUND_S = 4.0
"""How long a store may be in trouble and come no further before it is not waited for."""
_OUTAGES = {Code.UNAVAILABLE, Code.QUOTA, Code.AUTH, Code.BUDGET}


class StoreFollower:
    """The store of this kernel: opened at first use, kept up with the journal.

    A store's failure never fails a tool: what was committed stays in the journal, and
    delivery tries again with growing pauses. A record that the store refuses again and again
    is set aside, so that those behind it arrive.

    Attributes:
        first_pause_s: seconds before a store that failed is tried again; each pause is twice as
            long as the one before, up to `LONGEST_PAUSE_S`.
    """

    def __init__(
        self,
        providers: Providers,
        journal: Journal,
        kinds: Mapping[str, RecordKind],
        dead_letters: DeadLetters,
        log: Log,
    ) -> None:
        self.first_pause_s = FIRST_PAUSE_S
        self._providers = providers
        self._journal = journal
        self._kinds = kinds
        self._dead_letters = dead_letters
        self._log = log
        self._tries: Counter[int] = Counter()
        self._any_refused = False
        self._came_on = False
        self._counted = self._joined = False
        self._opening = asyncio.Lock()
        self._store: Store | None = None
        self._pump: asyncio.Task[None] | None = None
        self._wanted = asyncio.Event()
        self._own_seq = 0
        self._delivered: int | None = None
        self.trouble = ""

    def available(self) -> bool:
        """Whether a store is installed."""
        return bool(self._providers.names(Store))

    @property
    def name(self) -> str:
        """The configured store's name, empty when none is installed."""
        return self._providers.get(Store).name if self.available() else ""

    def wake(self, seq: int) -> None:
        """Deliver what this process committed up to that sequence number, in the background."""
        if seq:
            self._expect(seq - 1)
        self._own_seq = max(self._own_seq, seq)
        if self.available():
            self._start_pump()

    async def catch_up(self, timeout: float = 2.0) -> int:  # noqa: ASYNC109 - a bound, not an error
        """Wait, while the store takes it, for it to have all; returns what it has not.

        The number counts sequence numbers, so it is an upper bound of records; of a store that
        has not said yet how far it is, it is about what this process committed. `timeout` is in
        seconds; `trouble` says why a store takes nothing.
        """
        journal = self._journal.continuity
        if not self.available() or not (self._counted or await journal.is_readable()):
            return 0
        if not self._counted:
            last = await self._journal.last_seq()  # earlier processes may have left some, too
            self._expect(last)
            self._own_seq = max(self._own_seq, last)
            self._counted = True
        pump = self._start_pump()
        while timeout > 0 and not pump.done():
            before, step = self._delivered, min(timeout, ROUND_S)
            await asyncio.wait({pump}, timeout=step)
            timeout = 0 if self.trouble and self._delivered == before else timeout - step
        # A store that hangs is not asked: what is known here has to do.
        return 0 if pump.done() else max(0, self._own_seq - (self._delivered or 0))

    async def search(self, query: Query) -> list[Hit]:
        """Best hits first; see `Store.search`."""
        with self._providers.contained(Store):
            return await (await self._opened()).search(query)

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """See `Store.near`."""
        with self._providers.contained(Store):
            return await (await self._opened()).near(kind, key, workspace, limit)

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """See `Store.get`."""
        with self._providers.contained(Store):
            return await (await self._opened()).get(kind, key, workspace)

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """See `Store.count`."""
        with self._providers.contained(Store):
            return await (await self._opened()).count(kind, workspace, group_by)

    async def pending_vectors(self) -> int:
        """See `Store.pending_vectors`."""
        with self._providers.contained(Store):
            return await (await self._opened()).pending_vectors()

    async def status(self) -> StoreStatus:
        """How far the store has come.

        Raises:
            VrError: UNAVAILABLE when none is installed, or it cannot be asked.
        """
        from vr_kernel.journal.following import StoreStatus

        with self._providers.contained(Store):
            store = await self._opened()
            return StoreStatus(
                store=store.name,
                recorded=await self._journal.last_seq(),
                delivered=await store.cursor(),
                pending_vectors=await store.pending_vectors(),
                refused=await self._dead_letters.count(store.name),
            )

    async def dead_letters(self) -> list[DeadLetter]:
        """The records that this store would not take, the latest first."""
        return await self._dead_letters.list(self.name)

    async def retry(self, refused: Sequence[DeadLetter]) -> None:
        """Send records again, as if they were recorded just now."""
        records = [(each.workspace, each.kind, each.key) for each in refused]
        await self._journal.touch(records)
        await self._dead_letters.forget(self.name, records)
        self.wake(await self._journal.last_seq())

    async def give_up(self, refused: Sequence[DeadLetter]) -> None:
        """Take records off the list; they stay in the journal, and out of this store."""
        records = [(each.workspace, each.kind, each.key) for each in refused]
        await self._dead_letters.forget(self.name, records)

    async def restart(self, *, empty: bool) -> Path | None:
        """Miss nothing any more that the journal lacks, and deliver all of it again.

        With `empty` the store gives up what it holds, unless others keep records in it. Returns
        the file in which that is kept, if there is one.
        """
        from vr_kernel.journal.following import restart

        await self.catch_up()  # whoever is just bringing both together would miss it again
        if not self.available():
            await self._journal.continuity.accept()
            return None
        store = self._providers.get(Store)
        kept = await restart(store, self._opened, self._journal.continuity, empty=empty)
        self._delivered = None
        self.wake(await self._journal.last_seq())
        return kept

    async def aclose(self) -> None:
        """Stop delivering; what is left stays in the journal for the next start."""
        if self._pump is not None:
            self._pump.cancel()
            with suppress(asyncio.CancelledError):
                await self._pump
        if self._store is not None:
            # Before other providers: it may still ask the embedder for its last vectors.
            await asyncio.gather(close(self._store), return_exceptions=True)

    def _expect(self, seq: int) -> None:
        """Until the store says how far it is: it has what was recorded before."""
        if self._delivered is None:
            self._delivered = seq

    def _start_pump(self) -> asyncio.Task[None]:
        self._wanted.set()
        if self._pump is None or self._pump.done():
            self._pump = asyncio.create_task(self._deliver(), name="vr-delivery")
        return self._pump

    async def _deliver(self) -> None:
        pause, self.trouble = self.first_pause_s, ""
        while self._wanted.is_set():
            self._wanted.clear()
            self._came_on = False
            try:
                await PluginCode.apart(self._drain)
                pause, self.trouble = self.first_pause_s, ""
            except Exception as error:  # noqa: BLE001 - a plugin's
                self._wanted.set()
                self._journal.continuity.followed = ""  # another process may follow another
                pause = self.first_pause_s if self._came_on else pause
                # An outage is told once, not at every try.
                why = reason_of(error)
                tell = self._log.debug if why == self.trouble else self._log.warning
                tell("store did not take changes", error=why, retry_in=pause)
                self.trouble = why
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE_S)

    async def _drain(self) -> None:
        from vr_kernel.journal.following import bring_together

        store = await self._opened()
        await bring_together(store, self._journal)
        cursor = self._delivered = await store.cursor()
        changes = await self._journal.changes(cursor, BATCH)
        while changes:
            last = changes[-1].seq
            # The next are read while the store is at work, which takes most of the time.
            ahead = asyncio.create_task(self._journal.changes(last, BATCH))
            try:
                await self._put(store, changes)
                before, cursor = cursor, await store.cursor()
                if cursor == before:
                    self._came_on = False
                    raise RuntimeError("the store took changes, but its cursor stayed")
                self._delivered = cursor
                following = ahead if cursor == last else self._journal.changes(cursor, BATCH)
                changes = await following
            finally:
                ahead.cancel()
                await asyncio.gather(ahead, return_exceptions=True)

    async def _put(self, store: Store, changes: Sequence[Change]) -> None:
        """Let the store apply changes; what it refuses is told apart from what it takes."""
        try:
            await PluginCode.apart(store.apply, changes)
        except Exception as error:
            if isinstance(error, VrError) and (error.retryable or error.code in _OUTAGES):
                raise  # it cannot do anything now, whatever it is given
            if len(changes) == 1:
                await self._refuse(store, changes[0], error)
                return
            middle = len(changes) // 2
            await self._put(store, changes[:middle])
            await self._put(store, changes[middle:])
            return
        self._came_on = True
        if self._any_refused:
            taken = [(each.workspace, each.kind, each.key) for each in changes]
            await self._dead_letters.forget(store.name, taken)

    async def _refuse(self, store: Store, change: Change, error: Exception) -> None:
        """Count a refusal; after the last one the store gets the record's deletion instead."""
        self._tries[change.seq] += 1
        tries = self._tries[change.seq]
        if tries < TRIES:
            raise error
        await self._dead_letters.add(store.name, change, error, tries)
        self._any_refused = True
        # A store that does not take this either is not well: it is no fault of the record.
        await store.apply([replace(change, fields=None)])
        self._came_on = True
        del self._tries[change.seq]
        self._log.warning(
            "a record was set aside", store=store.name, kind=change.kind, error=said(error)
        )

    async def _opened(self) -> Store:
        from vr_kernel.journal.following import join

        async with self._opening:
            if self._store is None or not self._joined:
                whole = await self._journal.continuity.is_readable()
                store, kinds = self._store or self._providers.get(Store), [*self._kinds.values()]
                await store.open(kinds)
                if whole and (whole := await join(store, self._journal, kinds)):
                    self._any_refused = await self._dead_letters.count(store.name) > 0
                self._store, self._joined = store, whole
        return self._store
