"""Delivers the journal's changes to the configured store, and queries that store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.journal.dead_letters import DeadLetter, DeadLetters
from vr_kernel.journal.follower import Follower
from vr_kernel.log import Log
from vr_kernel.providers import ProviderRegistry, close
from vr_kernel.records import RecordKind
from vr_kernel.stores import Hit, Query, Store, StoredRecord

if TYPE_CHECKING:
    from vr_kernel.journal.delivery import Delivery
    from vr_kernel.journal.following import StoreStatus
    from vr_kernel.state.journal import JournalTable

FIRST_PAUSE_S = 0.1
LONGEST_PAUSE_S = 30.0
ROUND_S = 4.0
"""Seconds that a store may fail without progress before nothing waits for it any more."""


class StoreFollower:
    """The store of this kernel: opened at first use, kept up with the journal.

    A store's failure never fails a tool: what was committed stays in the journal, and delivery is
    retried with growing pauses. A record that the store refuses repeatedly is set aside, so that
    the following ones arrive.

    Attributes:
        follower: the background task that delivers; its `trouble` says why a store takes nothing.
    """

    def __init__(
        self,
        providers: ProviderRegistry,
        journal: JournalTable,
        kinds: Mapping[str, RecordKind],
        dead_letters: DeadLetters,
        log: Log,
    ) -> None:
        self._providers = providers
        self._journal = journal
        self._kinds = kinds
        self._dead_letters = dead_letters
        self._log = log
        self._counted = self._joined = False
        self._opening = asyncio.Lock()
        self._store: Store | None = None
        self._own_seq = 0
        self.follower = Follower(
            self._catch_up,
            name="vr-delivery",
            log=log,
            complaint="store did not take changes",
            on_failure=self._look_again,
            first_pause_s=FIRST_PAUSE_S,
            longest_pause_s=LONGEST_PAUSE_S,
        )

    @cached_property
    def _delivery(self) -> Delivery:
        from vr_kernel.journal.delivery import Delivery

        return Delivery(self._journal, self._dead_letters, self._log)

    @property
    def trouble(self) -> str:
        """The reason why the store takes nothing; empty when it does."""
        return self.follower.trouble

    def available(self) -> bool:
        """True when a store is installed."""
        return bool(self._providers.names(Store))

    @property
    def name(self) -> str:
        """The configured store's name, empty when none is installed."""
        return self._providers.get(Store).name if self.available() else ""

    def wake(self, seq: int) -> None:
        """Deliver what this process committed up to that sequence number, in the background."""
        if seq:
            self._delivery.expect(seq - 1)
        self._own_seq = max(self._own_seq, seq)
        if self.available():
            self.follower.wake()

    async def catch_up(self, timeout: float = 2.0) -> int:  # noqa: ASYNC109 - a bound, not an error
        """Wait until the store has everything, while it makes progress; returns how much it lacks.

        The number counts sequence numbers, so it is an upper bound of records; for a store that has
        not reported its cursor yet, it covers what this process committed. `timeout` is in seconds;
        `trouble` says why a store takes nothing.
        """
        journal = self._journal.continuity
        if not self.available() or not (self._counted or await journal.is_readable()):
            return 0
        if not self._counted:
            last = await self._journal.last_seq()  # earlier processes may have left some, too
            self._delivery.expect(last)
            self._own_seq = max(self._own_seq, last)
            self._counted = True
        self.follower.wake()
        settled = False
        while timeout > 0 and not settled:
            before, step = self._delivery.position, min(timeout, ROUND_S)
            settled = await self.follower.settled(step)
            stuck = self.trouble and self._delivery.position == before
            timeout = 0 if stuck else timeout - step
        # A store that hangs is not asked; the known position must do.
        return 0 if settled else max(0, self._own_seq - (self._delivery.position or 0))

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
        """The position of the store, and the number of records it lacks.

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
        """The records that this store rejected, the latest first."""
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
        """Accept what the journal lacks, and deliver all of it again.

        With `empty` the store gives up its records, unless others keep records in it. Returns the
        file that keeps them, if there is one.
        """
        from vr_kernel.journal.following import restart

        await self.catch_up()  # a delivery under way would miss it again
        if not self.available():
            await self._journal.continuity.accept()
            return None
        store = self._providers.get(Store)
        kept = await restart(store, self._opened, self._journal.continuity, empty=empty)
        self._delivery.position = None
        self.wake(await self._journal.last_seq())
        return kept

    async def aclose(self) -> None:
        """Stop delivering; what is left stays in the journal for the next start."""
        await self.follower.aclose()
        if self._store is not None:
            # Before other providers: the store may still need the embedder for its last vectors.
            await asyncio.gather(close(self._store), return_exceptions=True)

    async def _catch_up(self) -> None:
        self._delivery.came_on = False
        try:
            await PluginCode.apart(self._deliver)
        finally:
            self.follower.progressed = self._delivery.came_on

    async def _deliver(self) -> None:
        from vr_kernel.journal.following import bring_together

        store = await self._opened()
        await bring_together(store, self._journal)
        await self._delivery.deliver(store)

    async def _look_again(self) -> None:
        self._journal.continuity.followed = ""  # another process may follow another

    async def _opened(self) -> Store:
        from vr_kernel.journal.following import join

        async with self._opening:
            if self._store is None or not self._joined:
                whole = await self._journal.continuity.is_readable()
                store, kinds = self._store or self._providers.get(Store), [*self._kinds.values()]
                await store.open(kinds)
                if whole and (whole := await join(store, self._journal, kinds)):
                    self._delivery.any_refused = await self._dead_letters.count(store.name) > 0
                self._store, self._joined = store, whole
        return self._store
