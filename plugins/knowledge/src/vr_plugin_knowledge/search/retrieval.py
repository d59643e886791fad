"""Records that answer a question: found by the store, and ordered by a reranker."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace

from vr_kernel import Call, Hit, Query, RecordKind, VrError

from vr_plugin_knowledge.derived import sources_of
from vr_plugin_knowledge.excerpts import json_tokens, locate, shorten, value_of
from vr_plugin_knowledge.freshness import catch_up, said_of
from vr_plugin_knowledge.results import KnowledgeHit
from vr_plugin_knowledge.search.reranking import OVERFETCH, RERANKED, find_reranker, score_hits
from vr_plugin_knowledge.settings import settings_of

SCORE_DIGITS = 6


@dataclass(frozen=True, slots=True)
class Found:
    """Hits of a question, best first; `rerank_scores` are those of the same places.

    A score is None for a hit that no reranker judged. `pending` counts changes that are not
    delivered to the store yet. `embedder` and `reranker` are those that took part.
    """

    hits: list[Hit]
    rerank_scores: list[float | None]
    pending: int = 0
    embedder: str = ""
    reranker: str = ""

    @property
    def reranked(self) -> bool:
        """True when a reranker ordered the hits."""
        return any(score is not None for score in self.rerank_scores)


async def retrieve(call: Call, query: Query, notes: list[str], last: Collection[str] = ()) -> Found:
    """Search the store, and let the reranker order the hits, when one is configured.

    Hits of the kinds named in `last` come after all others. Steps that fail are left out and named
    in `notes`.

    Raises:
        VrError: UNAVAILABLE when the store cannot be asked.
    """
    pending = await catch_up(call, notes)
    if pending is None or not query.kinds:
        return Found([], [], pending or 0)
    reranker = find_reranker(call, notes)
    wider = max(query.limit, min(query.limit * OVERFETCH, RERANKED))
    asked = await _with_vector(call, query, notes)
    hits = await _search(call, replace(asked, limit=wider) if reranker else asked, notes)
    scores = await score_hits(call, reranker, query.text, hits, notes) if reranker else []
    best = sorted(zip(hits, scores, strict=False), key=lambda pair: -pair[1])
    ordered = [*((hit, score) for hit, score in best), *((hit, None) for hit in hits[len(best) :])]
    kept = _at_most(ordered, query.limit)
    kept.sort(key=lambda pair: pair[0].record.kind in last)
    return Found(
        [hit for hit, _ in kept],
        [score for _, score in kept],
        pending,
        call.services.vectors.embedder_id if asked.vector is not None else "",
        reranker.name if reranker and scores else "",
    )


def present(
    kind: RecordKind, hit: Hit, room: int, rerank_score: float | None = None
) -> KnowledgeHit:
    """Present a hit as the tools show it, in about `room` tokens."""
    fields = hit.record.fields
    bare = KnowledgeHit(
        collection=kind.name,
        object_id=hit.record.key,
        score=round(hit.score, SCORE_DIGITS),
        rerank_score=None if rerank_score is None else round(rerank_score, SCORE_DIGITS),
        properties={},
        locator=locate(kind, fields),
        link=value_of(fields, kind.link),
        source=value_of(fields, kind.source),
        derived=kind.derived,
        sources=sources_of(hit.record) if kind.derived else [],
    )
    while bare.sources and _cost(bare) > room // 2:
        bare.sources.pop()
    left = room - _cost(bare)
    return bare.model_copy(update={"properties": shorten(kind, fields, left)})


def _cost(hit: KnowledgeHit) -> int:
    return json_tokens(hit)


async def _search(call: Call, query: Query, notes: list[str]) -> list[Hit]:
    store = call.services.store
    hits = await store.search(query)
    if query.vector is not None and (waiting := await store.pending_vectors()):
        late = said_of(call, waiting)
        notes.append(f"Not found by meaning yet: {late} wait for their vectors.")
    if not hits and not await _holds_any(call, query):
        notes.append("Nothing is recorded in these collections yet.")
    return hits


async def _with_vector(call: Call, query: Query, notes: list[str]) -> Query:
    if query.mode == "keyword" or (query.mode == "hybrid" and query.alpha == 0):
        return query
    seconds = settings_of(call).refining_deadline_s
    try:
        async with asyncio.timeout(seconds):
            return replace(query, vector=await call.services.vectors.embed_query(query.text))
    except TimeoutError:
        notes.append(f"Found by keyword alone: the embedder was not done within {seconds:g} s.")
    except VrError as error:
        notes.append(f"Found by keyword alone. {error.message} {error.hint}".strip())
    except Exception as error:  # noqa: BLE001 - an embedder is a plugin's code; keywords still work
        call.log.warning("the question was not embedded", error=str(error))
        notes.append("Found by keyword alone, the embedder failed. See the server's log.")
    return replace(query, mode="keyword")


async def _holds_any(call: Call, query: Query) -> bool:
    for kind in query.kinds:
        if sum((await call.services.store.count(kind, query.workspace)).values()):
            return True
    return False


def _at_most(
    ordered: Sequence[tuple[Hit, float | None]], limit: int
) -> list[tuple[Hit, float | None]]:
    """The first `limit` of each kind."""
    taken: Counter[str] = Counter()
    kept = []
    for hit, score in ordered:
        taken[hit.record.kind] += 1
        if taken[hit.record.kind] <= limit:
            kept.append((hit, score))
    return kept
