"""Writes records to Weaviate, in batches, and checks the server's answer for each object."""

from __future__ import annotations

import asyncio
import json
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.faults import no_tenant, refused
from vr_plugin_knowledge.weaviate_store.layout import Place
from vr_plugin_knowledge.weaviate_store.names import RECORD, STATE
from vr_plugin_knowledge.weaviate_store.objects import Item
from vr_plugin_knowledge.weaviate_store.parts import asked

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

BATCH_BYTES = 8_000_000
"""Bytes of a request, far below a server's limit (100 MB by default)."""
BATCH_OBJECTS = 500
MERGED_AT_ONCE = 32


class Writer:
    """Writes objects to places of one server.

    Args:
        connection: to the server.
        consistency: how many replicas must confirm.
    """

    def __init__(self, connection: Connection, consistency: str) -> None:
        self._connection = connection
        self._consistency = consistency

    async def put(self, place: Place, items: Sequence[Item], vector: str | None) -> None:
        """Insert objects, or replace those of the same UUID.

        Raises:
            VrError: INVALID_INPUT that names the first object that the server refuses; the others
                are written.
        """
        from weaviate.classes.data import DataObject

        for batch in _batches(items):
            objects = [
                DataObject(
                    uuid=item.uuid,
                    properties=_usable(place, item.properties),
                    vector={vector: item.vector} if vector and item.vector else None,
                )
                for item in batch
            ]

            async def write(client: WeaviateAsyncClient, objects: Any = objects) -> dict[int, Any]:
                from weaviate.exceptions import WeaviateInsertManyAllFailedError

                handle = place.of(client, self._consistency)
                try:
                    done = await handle.data.insert_many(objects)
                except WeaviateInsertManyAllFailedError as error:
                    return {0: error}
                return dict(done.errors)

            failures = await self._connection.insert(write)
            for index in sorted(failures):
                item = batch[index]
                where = self._connection.where
                raise refused(where, item.kind, item.key, str(failures[index].message))

    async def merge(self, place: Place, items: Sequence[Item], vector: str | None) -> list[Item]:
        """Add to existing objects, keeping other properties; return the items without an object.

        Objects that hold the same record already are left as they are.

        Raises:
            VrError: as `put`.
        """
        new: list[Item] = []
        for start in range(0, len(items), MERGED_AT_ONCE):
            batch = items[start : start + MERGED_AT_ONCE]
            there = await self._there(place, [item.uuid for item in batch])
            new += [item for item in batch if item.uuid not in there]
            vectors = [{vector: i.vector} if vector and i.vector else None for i in batch]
            await asyncio.gather(
                *(
                    self.complete(place, item.uuid, item.properties, made)
                    for item, made in zip(batch, vectors, strict=True)
                    if item.uuid in there and there[item.uuid] != _recorded(item.properties)
                )
            )
        return new

    async def remove(self, place: Place, items: Sequence[Item]) -> None:
        """Delete objects; missing ones are ignored."""
        from weaviate.classes.query import Filter

        async def write(client: WeaviateAsyncClient) -> None:
            handle = place.of(client, self._consistency)
            for start in range(0, len(items), BATCH_OBJECTS):
                ids = [item.uuid for item in items[start : start + BATCH_OBJECTS]]
                try:
                    await handle.data.delete_many(where=Filter.by_id().contains_any(ids))
                except Exception as error:
                    if not no_tenant(error):
                        raise

        await self._connection.insert(write)

    async def _there(self, place: Place, uuids: Sequence[str]) -> dict[str, Any]:
        """The fields that objects hold as records, by UUID; None for other programs' objects."""
        from weaviate.classes.query import Filter

        async def ask(client: WeaviateAsyncClient) -> dict[str, Any]:
            found = await place.of(client, self._consistency).query.fetch_objects(
                filters=Filter.by_id().contains_any(uuids),
                limit=len(uuids),
                return_properties=[RECORD],
            )
            return {str(each.uuid): _recorded(each.properties) for each in found.objects}

        there: dict[str, Any] = await asked(self._connection, ask, {})
        return there

    async def complete(
        self,
        place: Place,
        uuid: str,
        properties: dict[str, Any],
        vector: dict[str, list[float]] | None,
    ) -> None:
        """Add search properties and vector to one object, and keep its other properties."""

        async def write(client: WeaviateAsyncClient) -> None:
            handle = place.of(client, self._consistency)
            await handle.data.update(uuid, properties=_usable(place, properties), vector=vector)

        await self._connection.insert(write)


def mark(item: Item, state: str) -> None:
    """Mark an item as fully indexed."""
    item.properties[STATE] = state


def _recorded(properties: Mapping[str, Any]) -> Any:
    return json.loads(properties[RECORD])["fields"] if properties.get(RECORD) else None


def _usable(place: Place, properties: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in properties.items() if k in place.collection.properties}


def _batches(items: Sequence[Item]) -> Iterator[list[Item]]:
    batch: list[Item] = []
    size = 0
    for item in items:
        if batch and (len(batch) == BATCH_OBJECTS or size + item.size > BATCH_BYTES):
            yield batch
            batch, size = [], 0
        batch.append(item)
        size += item.size
    if batch:
        yield batch
