"""Counts records on a Weaviate server, in total and by the value of a field."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from vr_kernel import RecordField

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.faults import no_collection, no_tenant
from vr_plugin_knowledge.weaviate_store.layout import Place
from vr_plugin_knowledge.weaviate_store.names import DAY, property_name

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

MOST_GROUPS = 10_000
"""Most values of a field that are counted; the largest groups come first."""


class Counter:
    """Counts objects in places of one server.

    Args:
        connection: to the server.
        consistency: how many replicas must agree.
    """

    def __init__(self, connection: Connection, consistency: str) -> None:
        self._connection = connection
        self._consistency = consistency

    async def total(self, place: Place, condition: Any = None) -> int:
        """Count the objects that fulfil a condition; all without one."""

        async def ask(client: WeaviateAsyncClient) -> int:
            handle = place.of(client, self._consistency)
            try:
                found = await handle.aggregate.over_all(filters=condition, total_count=True)
            except Exception as error:
                if no_tenant(error) or no_collection(error):
                    return 0
                raise
            return int(found.total_count or 0)

        return await self._connection.query(ask)

    async def groups(self, place: Place, field: RecordField) -> dict[str, int]:
        """Count the objects by value, largest group first; a date counts by its day."""
        from weaviate.classes.aggregate import GroupByAggregate

        name = property_name(field.name)
        by = GroupByAggregate(prop=DAY + name if field.type == "date" else name, limit=MOST_GROUPS)

        async def ask(client: WeaviateAsyncClient) -> dict[str, int]:
            handle = place.of(client, self._consistency)
            try:
                found = await handle.aggregate.over_all(group_by=by, total_count=True)
            except Exception as error:
                if no_tenant(error) or no_collection(error):
                    return {}
                raise
            return {_label(field, g.grouped_by.value): g.total_count or 0 for g in found.groups}

        counts = await self._connection.query(ask)
        return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))


def _label(field: RecordField, value: Any) -> str:
    if field.type == "bool":
        return str(value).lower()
    return str(int(value)) if field.type == "int" else str(value)
