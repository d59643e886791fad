"""A question's parts, one per kind, and their results."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vr_kernel import RecordKind

from vr_plugin_knowledge.weaviate_store.conditions import Test
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.faults import no_collection, no_tenant
from vr_plugin_knowledge.weaviate_store.layout import Place

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

Candidate = tuple[str, str]
"""Kind and UUID."""
Scores = dict[Candidate, float]


@dataclass(frozen=True, slots=True)
class Part:
    """One kind in one workspace, and the condition that its hits must fulfil."""

    kind: RecordKind
    place: Place
    condition: Any
    test: Test | None


async def asked(
    connection: Connection, ask: Callable[[WeaviateAsyncClient], Awaitable[Any]], nothing: Any
) -> Any:
    """An answer, or `nothing` for a workspace or collection that does not exist yet.

    Raises:
        VrError: as `Connection.run`.
    """

    async def guarded(client: WeaviateAsyncClient) -> Any:
        try:
            return await ask(client)
        except Exception as error:
            if no_tenant(error) or no_collection(error):
                return nothing
            raise

    return await connection.query(guarded)


def joined(lists: Sequence[Scores]) -> Scores:
    """The candidates of all kinds."""
    return {candidate: score for scores in lists for candidate, score in scores.items()}
