"""Cursors of journals, kept on the server beside their records."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vr_kernel import Position

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.delivery_lock import DeliveryLock
from vr_plugin_knowledge.weaviate_store.faults import already_there, no_collection, unmade
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

COLLECTION = "VrCursors"
OPENING = "opening"


class Cursors:
    """The cursor of one journal: an object of a small collection, under the journal's identity.

    An earlier version named it by another name, which the lock keeps; that cursor is adopted.

    Args:
        connection: to the server.
        settings: the collection's prefix, replicas and consistency.
        lock: names the journal as an earlier version did.
    """

    def __init__(
        self, connection: Connection, settings: WeaviateSettings, lock: DeliveryLock
    ) -> None:
        self._connection = connection
        self._settings = settings
        self._lock = lock
        self._name = settings.weaviate_prefix + COLLECTION
        self.journal = ""

    async def prepare(self, client: WeaviateAsyncClient) -> None:
        """Make the collection when it is missing, or add missing properties."""
        from weaviate.classes.config import Configure, DataType, Property

        opening = Property(name=OPENING, data_type=DataType.TEXT)
        if await client.collections.exists(self._name):
            config = client.collections.use(self._name).config
            if all(each.name != OPENING for each in (await config.get()).properties):
                await config.add_property(opening)
            return
        try:
            await client.collections.create(
                self._name,
                description="How far each journal of video-research was delivered.",
                properties=[Property(name="seq", data_type=DataType.INT), opening],
                vector_config=[Configure.Vectors.self_provided(name="vr_none")],
                replication_config=Configure.replication(factor=self._settings.weaviate_replicas),
            )
        except Exception as error:
            if not already_there(error):
                raise unmade(error, self._name) from error

    async def read(self) -> int | None:
        """The sequence number up to which this journal was delivered; None without collection."""
        position = await self.position(self.journal)
        return None if position is None else position.seq

    async def position(self, journal: str) -> Position | None:
        """The position up to which a journal was delivered; None without collection.

        The empty name stands for the cursor of an earlier version.
        """
        name = journal or await self._lock.name()

        async def ask(client: WeaviateAsyncClient) -> Position | None:
            try:
                found = await self._handle(client).query.fetch_object_by_id(name)
            except Exception as error:
                if no_collection(error):
                    return None
                raise
            if found is None:
                return Position(journal, "", 0)
            opening = str(found.properties.get(OPENING) or "")
            return Position(journal, opening, int(found.properties["seq"]))

        return await self._connection.query(ask)

    async def positions(self, journal: str) -> list[Position]:
        """Read the position of a journal, or the one of an earlier version; empty for none."""
        for name in dict.fromkeys((journal, "")):
            found = await self.position(name)
            if found is not None and found.seq:
                return [found]
        return []

    async def follow(self, position: Position, *, again: bool = False) -> None:
        """Store the position as the cursor of its journal; start from the beginning if `again`."""
        self.journal = position.journal
        kept = await self.position(position.journal)
        if again or (kept is not None and kept.seq < position.seq):
            async with self._lock.held():
                await self.move(position.seq, position.opening)

    async def move(self, seq: int, opening: str) -> None:
        """Record that all up to `seq` is delivered; the caller holds the lock."""
        from weaviate.classes.data import DataObject

        name = self.journal or await self._lock.name()

        async def write(client: WeaviateAsyncClient) -> None:
            done = await self._handle(client).data.insert_many(
                [DataObject(uuid=name, properties={"seq": seq, OPENING: opening})]
            )
            for failure in done.errors.values():
                raise RuntimeError(failure.message)

        await self._connection.insert(write)

    def _handle(self, client: WeaviateAsyncClient) -> Any:
        from weaviate.classes.config import ConsistencyLevel

        level = ConsistencyLevel[self._settings.weaviate_consistency]
        return client.collections.use(self._name).with_consistency_level(level)
