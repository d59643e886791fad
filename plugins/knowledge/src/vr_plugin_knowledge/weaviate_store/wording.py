"""Keyword search on a Weaviate server, with the words, weights and ways of the embedded store."""

from __future__ import annotations

import asyncio
import json
import math
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import VrError

from vr_plugin_knowledge.fragments import LONGEST_QUESTION, SHORTEST
from vr_plugin_knowledge.keywords import inverse_frequency, split_terms
from vr_plugin_knowledge.spelling import fold, is_lone
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.counting import Counter
from vr_plugin_knowledge.weaviate_store.layout import Place
from vr_plugin_knowledge.weaviate_store.names import WORDS
from vr_plugin_knowledge.weaviate_store.parts import Part, Scores, asked, joined
from vr_plugin_knowledge.weaviate_store.words import stems_of

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

MOST_HOLDERS = 1000
"""Objects of a kind that are looked at for a part of a word."""
_SCALE = 2.2
"""Weaviate's BM25 leaves out the constant factor k1 + 1, which SQLite's has."""


class WordSearch:
    """Looks words up, and parts of words where no whole word is found.

    Args:
        connection: to the server.
        consistency: how many replicas must agree.
    """

    def __init__(self, connection: Connection, consistency: str) -> None:
        self._connection = connection
        self._consistency = consistency
        self._counter = Counter(connection, consistency)

    async def best(
        self, parts: Sequence[Part], text: str, limit: int, *, weigh: bool = False
    ) -> tuple[Scores, float]:
        """Scores of the best of each kind, and what a text that holds the question scores.

        Args:
            parts: where to look.
            text: the question.
            limit: how many of each kind.
            weigh: whether the second is asked for; else it is 0.
        """
        words = split_terms(text)
        terms = [stem for stems in stems_of(words) for stem in stems]
        if not terms or not parts:
            return {}, 0.0
        whole = self._whole_score(parts, terms) if weigh else asyncio.sleep(0, 0.0)
        found, weight = await asyncio.gather(
            asyncio.gather(*(self._by_rank(part, terms, limit) for part in parts)), whole
        )
        if scores := joined(found):
            return scores, weight
        return await self._by_fragment(parts, words, limit)

    async def _by_rank(self, part: Part, terms: Sequence[str], limit: int) -> Scores:
        from weaviate.classes.query import MetadataQuery

        async def ask(client: WeaviateAsyncClient) -> Any:
            found = await part.place.of(client, self._consistency).query.bm25(
                " ".join(terms),
                query_properties=[WORDS],
                filters=part.condition,
                limit=limit,
                return_metadata=MetadataQuery(score=True),
                return_properties=[],
            )
            return found.objects

        objects = await asked(self._connection, ask, [])
        return {(part.kind.name, str(o.uuid)): _SCALE * o.metadata.score for o in objects}

    async def _whole_score(self, parts: Sequence[Part], terms: Sequence[str]) -> float:
        """The BM25 score of a text of average length that holds every term once; 0: not known."""
        counted = sorted(set(terms))
        questions = [
            f"p{number}t{place}: {_count(part.place, term)}"
            for number, part in enumerate(parts)
            for place, term in enumerate(["", *counted])
        ]

        async def ask(client: WeaviateAsyncClient) -> Any:
            return await client.graphql_raw_query(f"{{Aggregate{{{' '.join(questions)}}}}}")

        try:
            found = (await self._connection.query(ask)).aggregate or {}
        except VrError:
            # A server may have GraphQL switched off: then keywords count in full.
            return 0.0
        sums = [
            sum(_read_count(found.get(f"p{number}t{place}")) for number in range(len(parts)))
            for place in range(len(counted) + 1)
        ]
        holders = dict(zip(counted, sums[1:], strict=True))
        return sum(
            times * math.log(1 + (sums[0] - holders[term] + 0.5) / (holders[term] + 0.5))
            for term, times in Tally(terms).items()
        )

    async def _by_fragment(
        self, parts: Sequence[Part], words: Sequence[str], limit: int
    ) -> tuple[Scores, float]:
        """As `Fragments` of the embedded store: the most, and the rarest, parts of words."""
        folded = [part for part in dict.fromkeys(map(fold, words)) if _is_searched(part)]
        fragments = folded[:LONGEST_QUESTION]
        looked = [(part, fragment) for part in parts for fragment in fragments]
        if not looked:
            return {}, 0.0
        totals, found = await asyncio.gather(
            asyncio.gather(*(self._counter.total(part.place) for part in parts)),
            asyncio.gather(*(self._holders(part, fragment) for part, fragment in looked)),
        )
        holders: dict[str, int] = defaultdict(int)
        for (_, fragment), uuids in zip(looked, found, strict=True):
            holders[fragment] += len(uuids)
        weights = {f: inverse_frequency(sum(totals), holders[f]) for f in fragments}
        scores: Scores = defaultdict(float)
        for (part, fragment), uuids in zip(looked, found, strict=True):
            for uuid in uuids:
                scores[part.kind.name, uuid] += weights[fragment]
        return _best_of_each(scores, limit), sum(weights.values())

    async def _holders(self, part: Part, fragment: str) -> list[str]:
        from weaviate.classes.query import Filter

        pattern = f"{fragment}*" if is_lone(fragment) else f"*{fragment}*"
        likely = Filter.by_property(WORDS).like(pattern)
        condition = likely if part.condition is None else Filter.all_of([likely, part.condition])

        async def ask(client: WeaviateAsyncClient) -> Any:
            found = await part.place.of(client, self._consistency).query.fetch_objects(
                filters=condition, limit=MOST_HOLDERS, return_properties=[]
            )
            return found.objects

        return [str(o.uuid) for o in await asked(self._connection, ask, [])]


def _is_searched(fragment: str) -> bool:
    return len(fragment) >= SHORTEST or is_lone(fragment)


def _best_of_each(scores: Scores, limit: int) -> Scores:
    taken: Tally[str] = Tally()
    best: Scores = {}
    for candidate in sorted(scores, key=lambda each: (-scores[each], each)):
        taken[candidate[0]] += 1
        if taken[candidate[0]] <= limit:
            best[candidate] = scores[candidate]
    return best


def _count(place: Place, term: str) -> str:
    """A count as a part of a GraphQL question; the empty term counts all."""
    tenant = f"tenant:{json.dumps(place.workspace)}" if place.shelf.tenants else ""
    where = (
        f"where:{{path:[{json.dumps(WORDS)}],operator:Equal,valueText:{json.dumps(term)}}}"
        if term
        else ""
    )
    arguments = " ".join(filter(None, (tenant, where)))
    return f"{place.shelf.name}{f'({arguments})' if arguments else ''}{{meta{{count}}}}"


def _read_count(answer: Any) -> int:
    return int(answer[0]["meta"]["count"]) if answer else 0
