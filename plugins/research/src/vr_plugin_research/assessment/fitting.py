"""Assessments cut to fit into an answer."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator

from vr_kernel import fit

from vr_plugin_research.results.assessment import EvidenceAssessment

MOST_TOKENS = 4_000


async def fitted_assessment(result: EvidenceAssessment) -> EvidenceAssessment:
    """Return an assessment that fits into an answer; the quotes of the whole are recorded."""
    cut = await asyncio.to_thread(fit, result, _shorter(result), MOST_TOKENS)
    if cut is result:
        return result
    count = len(cut.supporting) + len(cut.contradicting)
    limit = f"Shortened to {count} of {result.score.quotes} quotes; the finding has all of them."
    return cut.model_copy(update={"limits": [*cut.limits, limit]})


def _shorter(result: EvidenceAssessment) -> Iterator[EvidenceAssessment]:
    for quotes, sources in ((20, 20), (10, 12), (5, 8), (3, 5)):
        yield result.model_copy(
            update={
                "supporting": result.supporting[:quotes],
                "contradicting": result.contradicting[:quotes],
                "sources": result.sources[:sources],
                "failures": result.failures[:5],
            }
        )
