"""Summaries: one line for each hit on why it matters, by a fast model, when turned on."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel
from vr_kernel import Call, VrError, cache_key

from vr_plugin_knowledge.envelopes import DATA_RULE, enclose
from vr_plugin_knowledge.excerpts import cut
from vr_plugin_knowledge.results import KnowledgeHit
from vr_plugin_knowledge.settings import settings_of

BATCH = 20
"""Most hits that are summarised, in one call of the model."""
SUMMARY_CHARS = 500
ROLE: Literal["fast"] = "fast"
NOT_READY = (
    "Not summarised: no language model is ready. Set GEMINI_API_KEY, or the key of another"
    " provider: `vr init`, `infra_models`."
)
_SYSTEM = (
    "You prepare search results for a reader. For each hit say in one short line what it tells"
    " about the question, and name those of its properties that are worth reading for that. "
    + DATA_RULE
)


class _Summary(BaseModel):
    hit: int
    summary: str
    useful_properties: list[str]


class _Summaries(BaseModel):
    summaries: list[_Summary]


async def summarise(
    call: Call, query: str, hits: Sequence[KnowledgeHit], notes: list[str]
) -> tuple[list[KnowledgeHit], bool]:
    """Summarise the first hits and trim their properties; returns all hits, and if any has one.

    Without the setting `flash_summarize`, without a model, or when it fails, they stay as they
    are. Summaries are kept in the cache.
    """
    models = call.services.models
    if not settings_of(call).flash_summarize or not hits:
        return list(hits), False
    if not models.ready(ROLE):
        notes.append(NOT_READY)
        return list(hits), False
    shown = [
        {"hit": number, "collection": hit.collection, "properties": hit.properties}
        for number, hit in enumerate(hits[:BATCH], start=1)
    ]
    made = await _summaries(call, f"Question: {query}\n\n{enclose(shown)}", notes)
    lines = {entry.hit: entry for entry in reversed(made.summaries) if entry.summary.strip()}
    new = [_with_summary(hit, lines.get(n)) for n, hit in enumerate(hits[:BATCH], start=1)]
    new += hits[BATCH:]
    return new, any(hit.summary for hit in new)


async def _summaries(call: Call, said: str, notes: list[str]) -> _Summaries:
    models = call.services.models
    key = cache_key(what="summaries", models=models.suggested(ROLE), system=_SYSTEM, said=said)

    async def produce(own: Call) -> _Summaries:
        made = await own.services.models.generate_structured(
            said, _Summaries, role=ROLE, system=_SYSTEM, thinking="minimal"
        )
        return made.value

    seconds = settings_of(call).refining_deadline_s
    try:
        # A part of its own: paid results are kept, however the call ends.
        async with asyncio.timeout(seconds), call.part("summaries") as part:
            return await part.once(key, _Summaries, produce)
    except VrError as error:
        notes.append(f"Not summarised. {error.message} {error.hint}".strip())
    except TimeoutError:
        notes.append(f"Not summarised: the model was not done within {seconds:g} s.")
    return _Summaries(summaries=[])


def _with_summary(hit: KnowledgeHit, entry: _Summary | None) -> KnowledgeHit:
    if entry is None:
        return hit
    useful = {
        name: hit.properties[name] for name in entry.useful_properties if name in hit.properties
    }
    return hit.model_copy(
        update={
            "summary": cut(" ".join(entry.summary.split()), SUMMARY_CHARS),
            "properties": useful or hit.properties,
        }
    )
