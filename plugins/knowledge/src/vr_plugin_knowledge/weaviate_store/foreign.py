"""Reads the objects of a Weaviate server as they are; nothing is made or changed there."""

from __future__ import annotations

import re
from collections.abc import AsyncGenerator, Iterator, Mapping
from datetime import UTC
from typing import TYPE_CHECKING, Any

from vr_kernel import Record, RecordKind

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.cursors import COLLECTION
from vr_plugin_knowledge.weaviate_store.layout import HOME, Collection, Place
from vr_plugin_knowledge.weaviate_store.names import OTHERS, OWN, RECORD, collection_name
from vr_plugin_knowledge.weaviate_store.names import property_name as name_of
from vr_plugin_knowledge.weaviate_store.objects import PULLED, read_record
from vr_plugin_knowledge.weaviate_store.parts import asked
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

PAGE = 200
"""Objects per request: even with large texts this is far below gRPC's limit."""


class ForeignObjects:
    """The objects of one workspace on a server.

    Args:
        settings: where the server is.
        kinds: of all plugins by name.
        workspace: whose objects are read; a collection without tenants belongs to the default one.
    """

    def __init__(
        self, settings: WeaviateSettings, kinds: Mapping[str, RecordKind], workspace: str
    ) -> None:
        self._connection = Connection(settings)
        self._settings = settings
        self._kinds = kinds
        self._workspace = workspace

    async def aclose(self) -> None:
        """Close the connection."""
        await self._connection.aclose()

    async def places(self, *, everything: bool) -> tuple[list[Place], list[str]]:
        """Find the places that may have records of our kinds, and the other collections' names.

        Args:
            everything: count collections whose name differs from a kind's in case, in signs
                between its words, or by something before it, such as `Team_`.

        Raises:
            VrError: for errors of the server or the connection.
        """

        async def ask(client: WeaviateAsyncClient) -> Any:
            return await client.collections.list_all(simple=False)

        configs = await self._connection.query(ask)
        places = [place for kind in self._kinds for place in self._own(kind, configs)]
        taken = set(self._own_names())
        others = sorted(name for name in configs if name not in taken)
        if everything:
            similar = {name: kind for name in others if (kind := self._similar(name))}
            places += [self._place(kind, configs[name]) for name, kind in similar.items()]
            others = [name for name in others if name not in similar]
        return places, others

    async def pages(self, place: Place) -> AsyncGenerator[list[Any], None]:
        """The objects of a place in the order of their UUIDs, a page at a time."""
        from weaviate.classes.query import MetadataQuery

        consistency, last = self._settings.weaviate_consistency, None
        while True:

            async def ask(client: WeaviateAsyncClient, after: Any = last) -> list[Any]:
                found = await place.of(client, consistency).query.fetch_objects(
                    limit=PAGE, after=after, return_metadata=MetadataQuery(creation_time=True)
                )
                return list(found.objects)

            objects = await asked(self._connection, ask, [])
            if not objects:
                return
            yield objects
            last = objects[-1].uuid

    def record(self, place: Place, found: Any) -> Record:
        """An object as a record, with all properties but our own, whether they fit or not."""
        kind, uuid = self._kinds[place.kind], str(found.uuid)
        read = read_record(kind, uuid, found.properties)
        fields = dict(read.fields)
        if not found.properties.get(RECORD):
            fields |= dict(_unknown(kind, found.properties))
            if found.metadata.creation_time:
                fields.setdefault("created_at", found.metadata.creation_time.astimezone(UTC))
        origin = f"{self._connection.where}/{place.collection.name}/{uuid}"
        provenance = {**read.provenance, PULLED: origin}
        if "tool" in read.provenance:
            provenance["recorded_by"] = read.provenance["tool"]
        return Record(place.kind, fields, read.key, provenance)

    def _own(self, kind: str, configs: Mapping[str, Any]) -> Iterator[Place]:
        name = collection_name(self._settings.weaviate_prefix, kind)
        for each in (name, name + OTHERS):
            config = configs.get(each)
            if config is not None and (
                config.multi_tenancy_config.enabled or self._workspace == HOME
            ):
                yield self._place(kind, config)

    def _own_names(self) -> Iterator[str]:
        prefix = self._settings.weaviate_prefix
        yield prefix + COLLECTION
        for kind in self._kinds:
            yield collection_name(prefix, kind)
            yield collection_name(prefix, kind) + OTHERS

    def _similar(self, name: str) -> str | None:
        for kind in self._kinds:
            if _plain(name) == _plain(kind) or _plain(name.rpartition("_")[2]) == _plain(kind):
                return kind
        return None

    def _place(self, kind: str, config: Any) -> Place:
        tenants = bool(config.multi_tenancy_config.enabled)
        return Place(kind, self._workspace, Collection(config.name, tenants, frozenset()))


def _unknown(kind: RecordKind, properties: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    known = {name_of(spec.name) for spec in kind.all_fields}
    for name, value in properties.items():
        if name not in known and not name.startswith(OWN) and value is not None:
            yield name, value


def _plain(name: str) -> str:
    return re.sub(r"[^0-9a-z]", "", name.casefold())
