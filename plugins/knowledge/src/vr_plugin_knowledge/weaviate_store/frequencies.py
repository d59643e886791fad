"""Counts how many objects of a Weaviate server hold each word."""

from __future__ import annotations

import json
import math
from collections import Counter as Tally
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from vr_kernel import VrError

from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.layout import Place
from vr_plugin_knowledge.weaviate_store.names import WORDS

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient


@dataclass(frozen=True, slots=True)
class Frequencies:
    """The number of objects in some places, and of those that hold each stem.

    Both are empty when the server does not say.
    """

    total: int
    holders: Mapping[str, int]

    def lacks(self, stems: Sequence[str]) -> bool:
        """True when it is certain that no object holds any of these."""
        return self.total > 0 and not any(self.holders[stem] for stem in stems)

    def whole(self, stems: Sequence[str]) -> float:
        """The BM25 score of a text of average length that holds every stem once; 0: not known."""
        if not self.total:
            return 0.0
        return sum(times * self._weight(stem) for stem, times in Tally(stems).items())

    def _weight(self, stem: str) -> float:
        holders = self.holders[stem]
        return math.log(1 + (self.total - holders + 0.5) / (holders + 0.5))


async def count_holders(
    connection: Connection, places: Sequence[Place], stems: Sequence[str]
) -> Frequencies:
    """Ask for all counts at once; they are unknown when GraphQL is switched off on the server."""
    counted = sorted(set(stems))
    questions = [
        f"p{number}t{place}: {_count(where, stem)}"
        for number, where in enumerate(places)
        for place, stem in enumerate(["", *counted])
    ]

    async def ask(client: WeaviateAsyncClient) -> Any:
        return await client.graphql_raw_query(f"{{Aggregate{{{' '.join(questions)}}}}}")

    try:
        found = (await connection.query(ask)).aggregate or {}
    except VrError:
        return Frequencies(0, {})
    sums = [
        sum(_read_count(found.get(f"p{number}t{place}")) for number in range(len(places)))
        for place in range(len(counted) + 1)
    ]
    return Frequencies(sums[0], dict(zip(counted, sums[1:], strict=True)))


def _count(place: Place, stem: str) -> str:
    """A count as a part of a GraphQL question; the empty stem counts all."""
    tenant = f"tenant:{json.dumps(place.workspace)}" if place.collection.tenants else ""
    where = (
        f"where:{{path:[{json.dumps(WORDS)}],operator:Equal,valueText:{json.dumps(stem)}}}"
        if stem
        else ""
    )
    arguments = " ".join(filter(None, (tenant, where)))
    return f"{place.collection.name}{f'({arguments})' if arguments else ''}{{meta{{count}}}}"


def _read_count(answer: Any) -> int:
    return int(answer[0]["meta"]["count"]) if answer else 0
