"""Keyword search on a Weaviate server, by the same rules as in the embedded store."""

from __future__ import annotations

import asyncio
from collections import Counter as Tally
from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vr_plugin_knowledge.matching.spelling import fold, is_lone
from vr_plugin_knowledge.matching.terms import (
    MOST_PARTS,
    SHORTEST_PART,
    inverse_frequency,
    split_terms,
)
from vr_plugin_knowledge.weaviate_store.connection import Connection
from vr_plugin_knowledge.weaviate_store.counting import Counter
from vr_plugin_knowledge.weaviate_store.frequencies import count_holders
from vr_plugin_knowledge.weaviate_store.names import WORDS
from vr_plugin_knowledge.weaviate_store.parts import Part, Scores, asked, joined
from vr_plugin_knowledge.weaviate_store.stems import stems_of

if TYPE_CHECKING:
    from weaviate import WeaviateAsyncClient

MOST_HOLDERS = 1000
"""Most objects of a kind that are searched for a part of a word."""
_SCALE = 2.2
"""Weaviate's BM25 leaves out the constant factor k1 + 1, which SQLite's has."""


class WordSearch:
    """Searches for words, and for parts of words when no object holds the whole word.

    Args:
        connection: to the server.
        consistency: how many replicas must agree.
    """

    def __init__(self, connection: Connection, consistency: str) -> None:
        self._connection = connection
        self._consistency = consistency
        self._counter = Counter(connection, consistency)

    async def best(self, parts: Sequence[Part], text: str, limit: int) -> tuple[Scores, float]:
        """Scores of the best of each kind, and the score of a text that holds the whole question.

        Words that no object holds are searched as parts of words; all words are when no object here
        holds any.

        Args:
            parts: where to look.
            text: the question.
            limit: how many of each kind.
        """
        words = split_terms(text)
        stems = stems_of(words)
        terms = [stem for each in stems for stem in each]
        if not terms or not parts:
            return {}, 0.0
        found, known = await asyncio.gather(
            asyncio.gather(*(self._by_rank(part, terms, limit) for part in parts)),
            count_holders(self._connection, [part.place for part in parts], terms),
        )
        scores = joined(found)
        lost = [not scores or known.lacks(each) for each in stems]
        missing = [word for word, is_lost in zip(words, lost, strict=True) if is_lost]
        more, weight = await self._by_fragment(parts, missing, limit)
        if not more:
            return scores, known.whole(terms)
        kept = [s for each, is_lost in zip(stems, lost, strict=True) if not is_lost for s in each]
        sums = {each: scores.get(each, 0.0) + more.get(each, 0.0) for each in {**scores, **more}}
        return _best_of_each(sums, limit), known.whole(kept) + weight

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

    async def _by_fragment(
        self, parts: Sequence[Part], words: Sequence[str], limit: int
    ) -> tuple[Scores, float]:
        """As `Fragments` of the embedded store: by the most and the rarest parts of words."""
        folded = [part for part in dict.fromkeys(map(fold, words)) if _is_searched(part)]
        fragments = folded[:MOST_PARTS]
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
    return len(fragment) >= SHORTEST_PART or is_lone(fragment)


def _best_of_each(scores: Scores, limit: int) -> Scores:
    taken: Tally[str] = Tally()
    best: Scores = {}
    for candidate in sorted(scores, key=lambda each: (-scores[each], each)):
        taken[candidate[0]] += 1
        if taken[candidate[0]] <= limit:
            best[candidate] = scores[candidate]
    return best
