"""Searches a Weaviate server: candidates of each kind, fused as in the embedded store."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import Hit, Query, RecordKind, StoredRecord

from vr_plugin_knowledge.matching.facets import conditions_for
from vr_plugin_knowledge.matching.fusion import CANDIDATES, fuse
from vr_plugin_knowledge.weaviate_store.conditions import build_filter, build_test
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.keywords import WordSearch
from vr_plugin_knowledge.weaviate_store.layout import Layout, Place
from vr_plugin_knowledge.weaviate_store.names import RECORD
from vr_plugin_knowledge.weaviate_store.objects import read_record
from vr_plugin_knowledge.weaviate_store.parts import Candidate, Part, Scores, asked, joined

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient


class Searcher:
    """Searches one server.

    Args:
        connection: to the server.
        layout: the places of the kinds.
        kinds: the record kinds of this process by name.
        consistency: how many replicas must agree.
    """

    def __init__(
        self,
        connection: Connection,
        layout: Layout,
        kinds: Mapping[str, RecordKind],
        consistency: str,
    ) -> None:
        self._connection = connection
        self._layout = layout
        self._kinds = kinds
        self._consistency = consistency
        self._words = WordSearch(connection, consistency)

    async def answer(self, query: Query, vector: str | None) -> list[Hit]:
        """Best hits first, at most `query.limit` of each kind.

        Args:
            query: what is asked.
            vector: the named vector to search by meaning; None searches by keyword alone.
        """
        parts = self._parts(query)
        limit = max(CANDIDATES, query.limit)
        if query.mode == "semantic" or (vector and query.alpha >= 1):
            meanings = await self._by_meaning(parts, vector, query.vector, limit)
            return await self._hits(parts, meanings, query.limit)
        if vector is None:
            words, _ = await self._words.best(parts, query.text, limit)
            return await self._hits(parts, words, query.limit)
        (words, whole), meanings = await asyncio.gather(
            self._words.best(parts, query.text, limit),
            self._by_meaning(parts, vector, query.vector, limit),
        )
        scores = fuse(words, meanings, alpha=query.alpha, whole=whole)
        return await self._hits(parts, scores, query.limit)

    async def neighbours(self, place: Place, uuid: str, vector: str, limit: int) -> list[Hit]:
        """The objects of a place nearest to one of them, without itself."""

        async def ask(client: WeaviateAsyncClient) -> list[float]:
            handle = place.of(client, self._consistency)
            found = await handle.query.fetch_object_by_id(uuid, include_vector=[vector])
            return list(found.vector.get(vector, ())) if found else []

        own = await asked(self._connection, ask, [])
        if not own:
            return []
        part = Part(self._kinds[place.kind], place, None, None)
        scores = await self._by_meaning([part], vector, own, limit + 1)
        scores.pop((place.kind, uuid), None)
        return await self._hits([part], scores, limit)

    async def fetch(self, place: Place, uuids: Sequence[str]) -> dict[str, StoredRecord]:
        """The records of objects by UUID; missing ones are left out."""
        found = await self._properties(place, uuids, [RECORD])
        foreign = [uuid for uuid, properties in found.items() if not properties.get(RECORD)]
        found |= await self._properties(place, foreign, None)
        kind = self._kinds[place.kind]
        return {uuid: read_record(kind, uuid, properties) for uuid, properties in found.items()}

    async def _properties(
        self, place: Place, uuids: Sequence[str], names: list[str] | None
    ) -> dict[str, Mapping[str, Any]]:
        from weaviate.classes.query import Filter

        async def ask(client: WeaviateAsyncClient) -> Any:
            found = await place.of(client, self._consistency).query.fetch_objects(
                filters=Filter.by_id().contains_any(list(uuids)),
                limit=len(uuids),
                return_properties=names,
            )
            return found.objects

        objects = await asked(self._connection, ask, []) if uuids else []
        return {str(o.uuid): o.properties for o in objects}

    def _parts(self, query: Query) -> list[Part]:
        chosen = [
            (kind, filters)
            for kind in self._kinds.values()
            if (not query.kinds or kind.name in query.kinds)
            and (filters := conditions_for(kind, query)) is not None
        ]
        places = [(*each, self._layout.place(each[0].name, query.workspace)) for each in chosen]
        return [
            Part(kind, place, build_filter(kind, filters), build_test(filters, kind))
            for kind, filters, place in places
            if place is not None
        ]

    async def _by_meaning(
        self,
        parts: Sequence[Part],
        name: str | None,
        vector: Sequence[float] | None,
        limit: int,
    ) -> Scores:
        from weaviate.classes.query import MetadataQuery

        async def search(part: Part) -> Scores:
            async def ask(client: WeaviateAsyncClient) -> Any:
                return await part.place.of(client, self._consistency).query.near_vector(
                    list(vector or ()),
                    target_vector=name,
                    filters=part.condition,
                    limit=limit,
                    return_metadata=MetadataQuery(distance=True),
                    return_properties=[],
                )

            found = await asked(self._connection, ask, None)
            objects = found.objects if found else []
            return {(part.kind.name, str(o.uuid)): 1 - o.metadata.distance for o in objects}

        if name is None or vector is None:
            return {}
        return joined(await asyncio.gather(*map(search, parts)))

    async def _hits(self, parts: Sequence[Part], scores: Scores, limit: int) -> list[Hit]:
        best = sorted(scores, key=lambda candidate: (-scores[candidate], candidate))
        found = await asyncio.gather(*(self._records(part, best, limit) for part in parts))
        records = {candidate: record for each in found for candidate, record in each.items()}
        return [Hit(records[each], scores[each]) for each in best if each in records]

    async def _records(
        self, part: Part, best: Sequence[Candidate], limit: int
    ) -> dict[Candidate, StoredRecord]:
        own = [uuid for kind, uuid in best if kind == part.kind.name]
        records = await self.fetch(part.place, own if part.test else own[:limit])
        kept = [u for u in own if u in records and (not part.test or part.test(records[u].fields))]
        return {(part.kind.name, uuid): records[uuid] for uuid in kept[:limit]}
