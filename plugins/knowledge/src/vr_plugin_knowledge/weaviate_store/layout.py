"""Collections of Weaviate: made and extended for kinds, or adopted as they are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vr_kernel import Log, RecordField, RecordKind

from vr_plugin_knowledge.weaviate_store.faults import already_there, unmade
from vr_plugin_knowledge.weaviate_store.names import (
    DAY,
    FACETS,
    OTHERS,
    RECORD,
    STATE,
    WORDS,
    collection_name,
    property_name,
)
from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient
    from weaviate.classes.config import Property

HOME = "default"
"""The workspace that an existing collection without tenants is assumed to belong to."""
_NO_VECTOR = "vr_none"
_TYPES = {
    "text": "text",
    "text[]": "text[]",
    "int": "int",
    "number": "number",
    "date": "date",
    "bool": "boolean",
}


@dataclass(frozen=True, slots=True)
class Collection:
    """One collection: whether it has tenants, and the properties that have the type we need."""

    name: str
    tenants: bool
    properties: frozenset[str]


@dataclass(frozen=True, slots=True)
class Place:
    """The place of the records of one kind in one workspace."""

    kind: str
    workspace: str
    collection: Collection

    def of(self, client: WeaviateAsyncClient, consistency: str) -> Any:
        """The client's handle for the place."""
        from weaviate.classes.config import ConsistencyLevel

        handle = client.collections.use(self.collection.name)
        if self.collection.tenants:
            handle = handle.with_tenant(self.workspace)
        return handle.with_consistency_level(ConsistencyLevel[consistency])


class Layout:
    """The collections that a server has for our kinds.

    Args:
        settings: for new collections.
        log: where unusable properties are reported.
    """

    def __init__(self, settings: WeaviateSettings, log: Log) -> None:
        self._settings = settings
        self._log = log
        self._collections: dict[str, Collection] = {}

    async def prepare(
        self, client: WeaviateAsyncClient, kinds: Sequence[RecordKind], vector: str | None
    ) -> None:
        """Make or extend the collections of the kinds, with a named vector when there is one."""
        there = await client.collections.list_all(simple=False)
        for kind in kinds:
            name = self._name(kind.name)
            collection = await self._ensure(client, kind, name, there.get(name), vector)
            others = there.get(name + OTHERS)
            if not collection.tenants and others is not None:
                await self._ensure(client, kind, name + OTHERS, others, vector)

    async def extend(
        self, client: WeaviateAsyncClient, kind: RecordKind, workspace: str, vector: str | None
    ) -> Place:
        """The place for records of a workspace, made when it is missing."""
        if self.place(kind.name, workspace) is None:
            name = self._name(kind.name)
            if name not in self._collections:
                await self.prepare(client, [kind], vector)
            if self.place(kind.name, workspace) is None:
                await self._ensure(client, kind, name + OTHERS, None, vector)
        place = self.place(kind.name, workspace)
        assert place is not None
        return place

    def place(self, kind: str, workspace: str) -> Place | None:
        """The place of records of a kind in a workspace; None when there cannot be any."""
        collection = self._collections.get(self._name(kind))
        if collection is not None and not collection.tenants and workspace != HOME:
            collection = self._collections.get(self._name(kind) + OTHERS)
        return None if collection is None else Place(kind, workspace, collection)

    def collections(self, kind: str) -> list[Collection]:
        """The collections of a kind: one, or two where one was adopted."""
        name = self._name(kind)
        return [
            self._collections[each] for each in (name, name + OTHERS) if each in self._collections
        ]

    def forget(self) -> None:
        """Forget all collections, as the server was replaced or emptied."""
        self._collections.clear()

    def _name(self, kind: str) -> str:
        return collection_name(self._settings.weaviate_prefix, kind)

    async def _ensure(
        self,
        client: WeaviateAsyncClient,
        kind: RecordKind,
        name: str,
        there: Any,
        vector: str | None,
    ) -> Collection:
        if there is None:
            await self._create(client, kind, name, vector)
        # Read again: another process may have made it first, with other settings.
        config = there or await client.collections.use(name).config.get()
        collection = await self._evolve(client, kind, config, vector)
        self._collections[name] = collection
        return collection

    async def _create(
        self, client: WeaviateAsyncClient, kind: RecordKind, name: str, vector: str | None
    ) -> None:
        from weaviate.classes.config import Configure

        tenants = self._settings.weaviate_tenants or name.endswith(OTHERS)
        shards = self._settings.weaviate_shards
        try:
            await client.collections.create(
                name,
                description=kind.description or None,
                properties=list(properties_of(kind).values()),
                vector_config=[_vector(vector or _NO_VECTOR)],
                multi_tenancy_config=Configure.multi_tenancy(
                    enabled=tenants, auto_tenant_creation=tenants, auto_tenant_activation=tenants
                ),
                replication_config=Configure.replication(factor=self._settings.weaviate_replicas),
                sharding_config=Configure.sharding(desired_count=shards)
                if shards and not tenants
                else None,
            )
        except Exception as error:
            if not already_there(error):
                raise unmade(error, name) from error
        else:
            self._log.info("made a collection of Weaviate", collection=name)

    async def _evolve(
        self, client: WeaviateAsyncClient, kind: RecordKind, config: Any, vector: str | None
    ) -> Collection:
        handle = client.collections.use(config.name)
        there = {item.name: str(item.data_type.value) for item in config.properties}
        usable = set()
        for name, wanted in properties_of(kind).items():
            if name not in there:
                await _unless_there(config.name, handle.config.add_property(wanted))
            elif there[name] != str(wanted.dataType.value):
                self._log.warning(
                    "a property of Weaviate has another type; the field is kept beside it",
                    collection=config.name,
                    property=name,
                )
                continue
            usable.add(name)
        if vector is not None and vector not in (config.vector_config or {}):
            await _unless_there(
                config.name, handle.config.add_vector(vector_config=_vector(vector))
            )
        tenants = bool(config.multi_tenancy_config.enabled)
        return Collection(config.name, tenants, frozenset(usable))


def properties_of(kind: RecordKind) -> Mapping[str, Property]:
    """The properties of a kind's collection: its fields, and our own for searches."""
    from weaviate.classes.config import DataType, Property, Tokenization

    def exact(name: str, kind: DataType = DataType.TEXT) -> Property:
        field = Tokenization.FIELD
        return Property(name=name, data_type=kind, tokenization=field, index_searchable=False)

    words = Property(
        name=WORDS,
        data_type=DataType.TEXT,
        tokenization=Tokenization.WHITESPACE,
        index_filterable=True,
        index_searchable=True,
    )
    record = Property(
        name=RECORD, data_type=DataType.TEXT, index_filterable=False, index_searchable=False
    )
    own = [words, exact(FACETS, DataType.TEXT_ARRAY), exact(STATE), record]
    days = [
        exact(DAY + property_name(spec.name))
        for spec in kind.all_fields
        if spec.type == "date" and spec.filterable
    ]
    return {item.name: item for item in (*map(_property, kind.all_fields), *own, *days)}


def _property(spec: RecordField) -> Property:
    from weaviate.classes.config import DataType, Property, Tokenization

    is_text = spec.type in {"text", "text[]"}
    return Property(
        name=property_name(spec.name),
        description=spec.description or None,
        data_type=DataType(_TYPES[spec.type]),
        index_filterable=spec.filterable or (spec.range and is_text),
        index_range_filters=(spec.range and not is_text) or None,
        index_searchable=False if is_text else None,
        tokenization=Tokenization.FIELD if is_text else None,
        skip_vectorization=not spec.vectorised,
    )


def _vector(name: str) -> Any:
    from weaviate.classes.config import Configure, VectorDistances

    # Without compression: the embedded store compares exactly, and both should rank alike.
    return Configure.Vectors.self_provided(
        name=name,
        vector_index_config=Configure.VectorIndex.hnsw(
            distance_metric=VectorDistances.COSINE,
            quantizer=Configure.VectorIndex.Quantizer.none(),
        ),
    )


async def _unless_there(name: str, change: Any) -> None:
    """Await a change of that collection, unless another process has just made it."""
    try:
        await change
    except Exception as error:
        if not already_there(error):
            raise unmade(error, name) from error
