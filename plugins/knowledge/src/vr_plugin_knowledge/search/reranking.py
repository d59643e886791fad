"""Scores hits by the configured reranker; on a failure the order of the store stays."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, Code, Hit, RecordKind, Reranker, VrError, cache_key

from vr_plugin_knowledge.rerankers.choice import choose_reranker
from vr_plugin_knowledge.settings import settings_of

OVERFETCH = 3
"""Reranked hits per requested hit."""
RERANKED = 100
"""Most hits that are reranked: one unit of Cohere's bill."""
TEXT_CHARS = 4000
"""Characters of each hit for a reranker."""


class _Scores(BaseModel):
    scores: list[float]


def find_reranker(call: Call, notes: list[str]) -> Reranker | None:
    """Find the configured reranker; None when reranking is off, or, with a note, unavailable."""
    try:
        return choose_reranker(call)
    except VrError as error:
        notes.append(_not_reranked(error))
        return None


async def score_hits(
    call: Call, reranker: Reranker, query: str, hits: Sequence[Hit], notes: list[str]
) -> list[float]:
    """Score the first `RERANKED` hits, higher is better; an empty list when that failed.

    Scores are kept in the cache: the next page, and the same question again, cost nothing.
    """
    texts = [_text(call.services.kinds[hit.record.kind], hit) for hit in hits[:RERANKED]]
    if not texts:
        return []
    key = cache_key(what="rerank", reranker=reranker.name, query=query, texts=texts)

    async def produce(own: Call) -> _Scores:
        from vr_kernel import rerank

        # Chosen again, so that its model calls are steps of this work.
        same = choose_reranker(own) or reranker
        return _Scores(scores=await own.step("scores", lambda: rerank(same, query, texts)))

    seconds = settings_of(call).refining_deadline_s
    try:
        # A part of its own: paid results are kept, however the call ends.
        async with asyncio.timeout(seconds), call.part("rerank") as part:
            return (await part.once(key, _Scores, produce)).scores
    except TimeoutError:
        notes.append(_not_reranked(_late(reranker, seconds)))
    except VrError as error:
        notes.append(_not_reranked(error))
    except Exception as error:  # noqa: BLE001 - a reranker is a plugin's code; the search holds
        call.log.warning("hits were not reranked", reranker=reranker.name, error=str(error))
        notes.append(f"Not reranked: {reranker.name} failed. See the server's log.")
    return []


def _late(reranker: Reranker, seconds: float) -> VrError:
    return VrError(
        f"{reranker.name} was not done within {seconds:g} s.",
        Code.UNAVAILABLE,
        hint="Ask again later, or raise refining_deadline_s in [plugins.knowledge].",
    )


def _text(kind: RecordKind, hit: Hit) -> str:
    """The text for a reranker: the field that the kind names, else all that is searched."""
    value = hit.record.fields.get(kind.rerank)
    text = "\n".join(value) if isinstance(value, list) else str(value or "")
    return (text or kind.search_text(hit.record.fields))[:TEXT_CHARS]


def _not_reranked(error: VrError) -> str:
    return f"Not reranked. {error.message} {error.hint}".strip()
