"""How far each journal has come, kept on the server beside what came of it."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.faults import already_there, no_collection, unmade
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings
from vr_plugin_knowledge.weaviate_store.turns import Turns

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

COLLECTION = "VrCursors"


class Cursors:
    """The cursor of one journal: an object of a small collection, under the journal's name.

    Args:
        connection: to the server.
        settings: the collection's prefix, replicas and consistency.
        turns: names the journal.
    """

    def __init__(self, connection: Connection, settings: WeaviateSettings, turns: Turns) -> None:
        self._connection = connection
        self._settings = settings
        self._turns = turns
        self._name = settings.weaviate_prefix + COLLECTION

    async def prepare(self, client: WeaviateAsyncClient) -> None:
        """Make the collection when it is not there."""
        from weaviate.classes.config import Configure, DataType, Property

        if await client.collections.exists(self._name):
            return
        try:
            await client.collections.create(
                self._name,
                description="How far each journal of video-research was delivered.",
                properties=[Property(name="seq", data_type=DataType.INT)],
                vector_config=[Configure.Vectors.self_provided(name="vr_none")],
                replication_config=Configure.replication(factor=self._settings.weaviate_replicas),
            )
        except Exception as error:
            if not already_there(error):
                raise unmade(error, self._name) from error

    async def read(self) -> int | None:
        """The sequence number up to which this journal was delivered; None without collection."""
        name = await self._turns.name()

        async def ask(client: WeaviateAsyncClient) -> int | None:
            try:
                found = await self._handle(client).query.fetch_object_by_id(name)
            except Exception as error:
                if no_collection(error):
                    return None
                raise
            return int(found.properties["seq"]) if found else 0

        return await self._connection.query(ask)

    async def move(self, seq: int) -> None:
        """Say that all up to `seq` is delivered; the caller has its turn."""
        from weaviate.classes.data import DataObject

        name = await self._turns.name()

        async def write(client: WeaviateAsyncClient) -> None:
            done = await self._handle(client).data.insert_many(
                [DataObject(uuid=name, properties={"seq": seq})]
            )
            for failure in done.errors.values():
                raise RuntimeError(failure.message)

        await self._connection.insert(write)

    def _handle(self, client: WeaviateAsyncClient) -> Any:
        from weaviate.classes.config import ConsistencyLevel

        level = ConsistencyLevel[self._settings.weaviate_consistency]
        return client.collections.use(self._name).with_consistency_level(level)
