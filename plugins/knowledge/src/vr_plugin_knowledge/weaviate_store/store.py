"""The Weaviate store: the same questions and answers as the embedded one, on a server."""

from __future__ import annotations

import asyncio
from collections import defaultdict
from collections.abc import Callable, Sequence
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vr_kernel import (
    Change,
    Hit,
    Log,
    Position,
    Query,
    RecordKind,
    Services,
    StoredRecord,
    Vectors,
    VrError,
)

from vr_plugin_knowledge.matching.embeddings import wants_vectors
from vr_plugin_knowledge.matching.facets import groupable
from vr_plugin_knowledge.rebuilt import rebuilt
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.counting import Counter
from vr_plugin_knowledge.weaviate_store.cursors import Cursors
from vr_plugin_knowledge.weaviate_store.delivery_lock import DeliveryLock
from vr_plugin_knowledge.weaviate_store.embedding import embed_items
from vr_plugin_knowledge.weaviate_store.indexer import Indexer
from vr_plugin_knowledge.weaviate_store.layout import Layout, Place
from vr_plugin_knowledge.weaviate_store.names import object_id, vector_name
from vr_plugin_knowledge.weaviate_store.objects import Item, build_items, state_of, unknown_kind
from vr_plugin_knowledge.weaviate_store.searching import Searcher
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.writing import Writer, mark

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

CLOSE_GRACE_S = 3.0
"""Seconds to finish a batch that is being written when the program ends."""


class WeaviateStore:
    """A `Store` on a Weaviate server, which several machines may fill, each from its journal.

    The server has no transactions. A batch is written, then the cursor is moved; so records of a
    batch may be there before the cursor says so, and writing them again changes nothing.

    Args:
        settings: where the server is and how it is used.
        lock: lets one process deliver at a time.
        vectors: turns text into vectors.
        log: where degraded operation is reported.
        identity: gives the name of this machine's journal.
    """

    name = "weaviate"
    shared = True
    """Other machines' records may be there, too, and another program's."""

    def __init__(
        self,
        settings: WeaviateSettings,
        lock: DeliveryLock,
        vectors: Vectors,
        log: Log,
        identity: Callable[[], str] = str,
    ) -> None:
        self._identity = identity
        consistency = settings.weaviate_consistency
        self._limit = settings.weaviate_insert_s
        self._kinds: dict[str, RecordKind] = {}
        self._vectors = vectors
        self._log = log
        self._lock = lock
        self._connection = Connection(settings, log, lock.request_s)
        self._layout = Layout(settings, log)
        self._cursors = Cursors(self._connection, settings, self._lock)
        self._writer = Writer(self._connection, consistency)
        self._counter = Counter(self._connection, consistency)
        self._searcher = Searcher(self._connection, self._layout, self._kinds, consistency)
        self._indexer = Indexer(
            self._connection,
            self._layout,
            self._kinds,
            vectors,
            self._lock,
            settings,
            log,
        )

    async def open(self, kinds: Sequence[RecordKind]) -> None:
        """Make the kinds' collections, or add missing properties; nothing is dropped.

        Raises:
            VrError: for errors of the server or the connection; opening may be tried again.
        """
        self._kinds.update({kind.name: kind for kind in kinds})

        async def prepare(client: WeaviateAsyncClient) -> None:
            await self._cursors.prepare(client)
            await self._layout.prepare(client, kinds, self._vector)

        await self._connection.run(prepare, self._limit)
        await self._indexer.look_everywhere()

    async def aclose(self) -> None:
        """Stop background work and close the connection."""
        await self._indexer.aclose()
        await self._connection.aclose()

    async def cursor(self) -> int:
        """The sequence number up to which this machine's journal was delivered."""
        cursor = await self._cursors.read()
        if cursor is None:
            # The server was replaced or emptied: all of it is made again.
            self._layout.forget()
            await self.open(list(self._kinds.values()))
        return cursor or 0

    async def positions(self) -> list[Position]:
        """The position of this machine's journal; other machines keep their own."""
        return await self._cursors.positions(self._identity())

    async def follow(self, position: Position) -> None:
        """Follow that journal from that position."""
        await self._cursors.follow(position)

    async def restart(self, journal: str, *, empty: bool) -> None:
        """Follow that journal; with `empty` from its beginning. No records are removed."""
        await self._cursors.follow(Position(journal, "", 0), again=empty)

    async def apply(self, changes: Sequence[Change]) -> None:
        """Write the changes after the cursor, then move it.

        Once started it finishes even when the caller is cancelled, unless the server hangs.

        Raises:
            VrError: INVALID_INPUT for a record that the server refuses; UNAVAILABLE, AUTH or QUOTA
                when it accepts nothing.
        """
        items = await asyncio.to_thread(build_items, changes, self._kinds)
        await embed_items(self._vectors, [item for item in items if item.text.strip()])
        for item in items:
            if not item.deleted and (item.vector or not item.text.strip()):
                kind = self._kinds.get(item.kind) or unknown_kind(item.kind)
                mark(item, state_of(kind, self._indexer.embedder))
        work = asyncio.create_task(self._write(changes, items), name="vr-weaviate-write")
        try:
            await asyncio.shield(work)
        except asyncio.CancelledError:
            await asyncio.wait({work}, timeout=CLOSE_GRACE_S)
            work.cancel()
            with suppress(asyncio.CancelledError, VrError):
                await work
            raise

    async def pending_vectors(self) -> int:
        """Count the records that are found by keyword but not yet by meaning."""
        return await self._indexer.pending()

    async def get(self, kind: str, key: str, workspace: str) -> StoredRecord | None:
        """One record, or None."""
        place = self._layout.place(kind, workspace)
        if place is None or kind not in self._kinds:
            return None
        uuid = object_id(workspace, kind, key)
        return (await self._searcher.fetch(place, [uuid])).get(uuid)

    async def search(self, query: Query) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind.

        A kind that cannot be filtered as asked is left out. Without an embedder a hybrid
        search goes by keyword alone.

        Raises:
            VrError: INVALID_INPUT for a vector of another dimension, or a filter value of
                another type than its field; UNAVAILABLE when the server does not answer.
        """
        if query.limit < 1:
            return []
        return await self._searcher.answer(
            query, self._vector if wants_vectors(query, self._vectors) else None
        )

    async def near(self, kind: str, key: str, workspace: str, limit: int) -> list[Hit]:
        """Records of that kind nearest in meaning, by cosine similarity, without itself."""
        place, vector = self._layout.place(kind, workspace), self._vector
        if place is None or vector is None or limit < 1 or kind not in self._kinds:
            return []
        uuid = object_id(workspace, kind, key)
        return await self._searcher.neighbours(place, uuid, vector, limit)

    async def count(self, kind: str, workspace: str, group_by: str | None = None) -> dict[str, int]:
        """Counts by value of a filterable field; a date counts by day, a list by element.

        Raises:
            VrError: INVALID_INPUT for a field that the kind does not have or cannot group by.
        """
        place = self._layout.place(kind, workspace)
        if group_by is None:
            return {"": await self._counter.total(place) if place else 0}
        if kind not in self._kinds:
            return {}
        field = groupable(self._kinds[kind], group_by)
        return await self._counter.groups(place, field) if place else {}

    @property
    def connection(self) -> Connection:
        """The connection to the server."""
        return self._connection

    def place(self, kind: str, workspace: str) -> Place | None:
        """The place of records of a kind in a workspace; None when there cannot be any."""
        return self._layout.place(kind, workspace) if kind in self._kinds else None

    async def keys(self, place: Place, uuids: Sequence[str]) -> dict[str, str]:
        """The keys of records, by the UUIDs of their objects; missing ones are left out."""
        found = await self._searcher.fetch(place, list(dict.fromkeys(uuids)))
        return {uuid: record.key for uuid, record in found.items()}

    @property
    def _vector(self) -> str | None:
        return vector_name(self._vectors.embedder_id) if self._vectors.available() else None

    async def _write(self, changes: Sequence[Change], items: Sequence[Item]) -> None:
        async with self._lock.held():
            cursor = await self._cursors.read()
            if cursor is None:
                raise rebuilt(
                    "The Weaviate server was emptied and is being filled from the journal."
                )
            newest = max(changes, key=lambda change: change.seq, default=None)
            if newest is None or newest.seq <= cursor:
                return
            await self._put([item for item in items if item.seq > cursor])
            await self._cursors.move(newest.seq, newest.opening)

    async def _put(self, items: Sequence[Item]) -> None:
        groups: dict[tuple[str, str], list[Item]] = defaultdict(list)
        for item in items:
            groups[item.kind, item.workspace].append(item)
        for (kind, workspace), group in groups.items():
            place = await self._place(kind, workspace)
            live = [item for item in group if not item.deleted]
            new = await self._writer.merge(place, [i for i in live if i.pulled], self._vector)
            whole = [item for item in live if not item.pulled]
            await self._writer.put(place, [*whole, *new], self._vector)
            if gone := [item for item in group if item.deleted]:
                await self._writer.remove(place, gone)
            if any(item.text.strip() and item.vector is None for item in live):
                self._indexer.look_at([place])

    async def _place(self, kind: str, workspace: str) -> Any:
        known = self._kinds.get(kind) or unknown_kind(kind)
        place = self._layout.place(kind, workspace)
        return place or await self._connection.insert(
            lambda client: self._layout.extend(client, known, workspace, self._vector)
        )


def build_store(services: Services) -> WeaviateStore:
    """The Weaviate store of a kernel."""
    lock, continuity = DeliveryLock(services), services.journal.continuity
    return WeaviateStore(
        services.settings, lock, services.vectors, services.log, lambda: continuity.journal
    )
