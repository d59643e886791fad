"""Records into Weaviate: in batches, and with what the server says of each object."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.faults import no_tenant, refused
from vr_plugin_knowledge.weaviate_store.layout import Place
from vr_plugin_knowledge.weaviate_store.names import STATE
from vr_plugin_knowledge.weaviate_store.objects import Item

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

BATCH_BYTES = 8_000_000
"""A request stays far below what a server takes at once (100 MB by default)."""
BATCH_OBJECTS = 500


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
            VrError: INVALID_INPUT that names the first object that the server refuses; the
                others are there.
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

    async def remove(self, place: Place, items: Sequence[Item]) -> None:
        """Delete objects; those that are not there are no error."""
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

    async def complete(
        self,
        place: Place,
        uuid: str,
        properties: dict[str, Any],
        vector: dict[str, list[float]] | None,
    ) -> None:
        """Add to one object what it is found by; all else that it has stays."""

        async def write(client: WeaviateAsyncClient) -> None:
            handle = place.of(client, self._consistency)
            await handle.data.update(uuid, properties=_usable(place, properties), vector=vector)

        await self._connection.insert(write)


def mark(item: Item, state: str) -> None:
    """Say that an item is indexed in full."""
    item.properties[STATE] = state


def _usable(place: Place, properties: dict[str, Any]) -> dict[str, Any]:
    return {k: v for k, v in properties.items() if k in place.shelf.properties}


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
