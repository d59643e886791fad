"""The graphs of all workspaces, kept up to date with the journal."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager

from vr_kernel import Change, Journal, Services

from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
from vr_plugin_knowledge.graph.network import Network

BATCH = 2000


class Networks:
    """The graphs of one kernel, by workspace; read from the journal at first use.

    Like a store it follows the journal, so that all processes see the same; it needs no store.

    Args:
        journal: the kernel's journal.
    """

    def __init__(self, journal: Journal) -> None:
        self._journal = journal
        self._read = 0
        self._networks: defaultdict[str, Network] = defaultdict(Network)
        self._turn = asyncio.Lock()

    @asynccontextmanager
    async def current(self, workspace: str) -> AsyncIterator[Network]:
        """Hold a workspace's graph as it is now; it does not change during the block."""
        async with self._turn:
            await self._follow()
            yield self._networks[workspace]

    async def _follow(self) -> None:
        last = await self._journal.last_seq()
        if last < self._read:  # the journal was replaced
            self._networks.clear()
            self._read = 0
        while changes := await self._journal.changes(self._read, BATCH, (CONCEPTS, EDGES)):
            await asyncio.to_thread(self._apply, changes)
            self._read = changes[-1].seq
        self._read = max(self._read, last)

    def _apply(self, changes: Sequence[Change]) -> None:
        for change in changes:
            self._networks[change.workspace].apply(change)


def build_networks(services: Services) -> Networks:
    """The graphs of a kernel."""
    return Networks(services.journal)
