"""Indexes objects on the server: late vectors, and objects that other programs wrote."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vr_kernel import Follower, Log, RecordKind, Vectors, VrError

from vr_plugin_knowledge.matching.embeddings import is_outage, pack_vector
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.counting import Counter
from vr_plugin_knowledge.weaviate_store.delivery_lock import DeliveryLock
from vr_plugin_knowledge.weaviate_store.faults import no_collection, no_tenant
from vr_plugin_knowledge.weaviate_store.layout import Layout, Place
from vr_plugin_knowledge.weaviate_store.names import RECORD, STATE, WAITING, vector_name
from vr_plugin_knowledge.weaviate_store.objects import (
    plain_properties,
    read_record,
    search_properties,
    state_of,
)
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.stems import stems_of_texts
from vr_plugin_knowledge.weaviate_store.writing import Writer

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

BATCH = 32


@dataclass(frozen=True, slots=True)
class Stale:
    """An object that is not indexed as it should be; `whole` is its content when it was read."""

    uuid: str
    properties: Mapping[str, Any]
    record: Any


class Indexer:
    """Indexes the stale objects of places in one background task of this process.

    Stale objects are found by queries to the server, so nothing is lost when a process ends.
    Objects that another version of a kind, or another embedder, has indexed are searched once after
    opening: two programs that disagree must not undo each other's work for ever.
    """

    def __init__(
        self,
        connection: Connection,
        layout: Layout,
        kinds: Mapping[str, RecordKind],
        vectors: Vectors,
        lock: DeliveryLock,
        settings: WeaviateSettings,
        log: Log,
    ) -> None:
        self._connection = connection
        self._layout = layout
        self._kinds = kinds
        self._vectors = vectors
        self._lock = lock
        self._consistency = settings.weaviate_consistency
        self._writer = Writer(connection, self._consistency)
        self._counter = Counter(connection, self._consistency)
        self._log = log
        self._dirty: dict[Place, bool] = {}
        self._busy: dict[Place, bool] = {}
        self._follower = Follower(
            self._catch_up,
            name="vr-weaviate-indexer",
            log=log,
            complaint="objects are not indexed",
        )

    @property
    def embedder(self) -> str:
        """The embedder whose vectors are wanted; empty without one."""
        return self._vectors.embedder_id if self._vectors.available() else ""

    def look_at(self, places: Sequence[Place], *, thoroughly: bool = False) -> None:
        """Index waiting objects of these places in the background."""
        for place in places:
            self._dirty[place] = thoroughly or self._dirty.get(place, False)
        if places:
            self._follower.wake()

    async def look_everywhere(self) -> None:
        """Find all places, and check them thoroughly."""
        found = await asyncio.gather(*map(self._places, self._kinds))
        self.look_at([place for places in found for place in places], thoroughly=True)

    async def pending(self) -> int:
        """Count the objects that are not fully indexed, as far as this process knows."""
        places = {**self._dirty, **self._busy}
        counts = [self._counter.total(p, self._stale(p, all_=t)) for p, t in places.items()]
        return sum(await asyncio.gather(*counts))

    async def aclose(self) -> None:
        """Stop; remaining objects are found at the next start."""
        await self._follower.aclose()

    async def _places(self, kind: str) -> list[Place]:
        places = []
        for collection in self._layout.collections(kind):

            async def ask(client: WeaviateAsyncClient, name: str = collection.name) -> list[str]:
                return list(await client.collections.use(name).tenants.get())

            names = await self._connection.query(ask) if collection.tenants else ["default"]
            places += [Place(kind, workspace, collection) for workspace in names]
        return places

    async def _catch_up(self) -> None:
        for place in list(self._dirty):
            await self._work_off(place)

    async def _work_off(self, place: Place) -> None:
        if not self.embedder and not self._dirty[place]:
            return
        # Removed from the list during the work, so that later writes put it there again.
        thoroughly = self._busy[place] = self._dirty.pop(place)
        try:
            while stale := await self._batch(place, thoroughly=thoroughly):
                await self._index(place, stale)
        except BaseException:
            self._dirty[place] = thoroughly or self._dirty.get(place, False)
            raise
        finally:
            del self._busy[place]

    async def _batch(self, place: Place, *, thoroughly: bool) -> list[Stale]:
        async def ask(client: WeaviateAsyncClient) -> Any:
            handle = place.of(client, self._consistency)
            condition = self._stale(place, all_=thoroughly)
            try:
                return (await handle.query.fetch_objects(filters=condition, limit=BATCH)).objects
            except Exception as error:
                if no_tenant(error) or no_collection(error):
                    return []
                raise

        kind = self._kinds[place.kind]
        objects = await self._connection.query(ask)
        return [
            Stale(str(o.uuid), o.properties, read_record(kind, str(o.uuid), o.properties))
            for o in objects
        ]

    def _stale(self, place: Place, *, all_: bool) -> Any:
        from weaviate.classes.query import Filter

        state = Filter.by_property(STATE)
        if not all_:
            return state.equal(WAITING)
        return Filter.not_(state.contains_any([self._full(place)]))

    def _full(self, place: Place) -> str:
        return state_of(self._kinds[place.kind], self.embedder)

    async def _index(self, place: Place, stale: Sequence[Stale]) -> None:
        kind = self._kinds[place.kind]
        fields = [each.record.fields for each in stale]
        vectors = await self._embed([kind.vector_text(each) for each in fields])
        stems = await asyncio.to_thread(stems_of_texts, [kind.search_text(each) for each in fields])
        name = vector_name(self.embedder) if self.embedder else ""
        async with self._lock.held():
            unchanged = await self._unchanged(place, stale)
            await asyncio.gather(
                *(
                    self._complete(place, each, words, {name: vector} if vector else None)
                    for each, words, vector in zip(stale, stems, vectors, strict=True)
                    if each.uuid in unchanged
                )
            )

    async def _complete(
        self,
        place: Place,
        stale: Stale,
        words: Sequence[str],
        vector: dict[str, list[float]] | None,
    ) -> None:
        kind, fields = self._kinds[place.kind], stale.record.fields
        # An object that another program wrote keeps its properties.
        plain = plain_properties(kind, fields) if stale.properties.get(RECORD) else {}
        found_by = {**search_properties(kind, fields, words), STATE: self._full(place)}
        try:
            await self._writer.complete(place, stale.uuid, {**plain, **found_by}, vector)
        except VrError as error:
            if is_outage(error):
                raise
            self._log.warning("an object was refused", kind=kind.name, error=error.message)
            # Even without its fields it is found, and does not hold up the others.
            await self._writer.complete(place, stale.uuid, found_by, vector)

    async def _unchanged(self, place: Place, stale: Sequence[Stale]) -> set[str]:
        """The objects that did not change since their text was embedded."""
        from weaviate.classes.query import Filter

        async def ask(client: WeaviateAsyncClient) -> Any:
            handle = place.of(client, self._consistency)
            condition = Filter.by_id().contains_any([each.uuid for each in stale])
            return (await handle.query.fetch_objects(filters=condition, limit=len(stale))).objects

        now = {str(o.uuid): o.properties for o in await self._connection.query(ask)}
        return {each.uuid for each in stale if now.get(each.uuid) == each.properties}

    async def _embed(self, texts: Sequence[str]) -> list[list[float] | None]:
        """One vector per text; None for an empty text, and for one that the embedder refuses."""
        found: list[list[float] | None] = [None] * len(texts)
        wanted = [number for number, text in enumerate(texts) if text.strip()]
        if not self.embedder or not wanted:
            return found
        try:
            made: Sequence[list[float] | None] = await self._vectors.embed_documents(
                [texts[number] for number in wanted]
            )
        except Exception as error:  # a plugin's code; classified as outage or bad text below
            if is_outage(error):
                raise
            made = await self._embed_singly([texts[number] for number in wanted], error)
        for number, vector in zip(wanted, made, strict=True):
            if vector and pack_vector(vector, self._vectors.dimension) is not None:
                found[number] = vector
        return found

    async def _embed_singly(
        self, texts: Sequence[str], cause: Exception
    ) -> list[list[float] | None]:
        found: list[list[float] | None] = []
        for text in texts:
            try:
                found += await self._vectors.embed_documents([text])
            except Exception as error:  # noqa: BLE001 - a text that cannot be embedded stays without
                self._log.warning("a text was not embedded", error=str(error))
                found.append(None)
        if not any(found) and len(texts) > 1:
            # No text succeeded: the embedder is at fault, not the texts.
            raise cause
        return found
