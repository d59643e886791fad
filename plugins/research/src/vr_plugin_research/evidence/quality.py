"""The quality of sources: how near, how recent, who stands behind it, how independent."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Mapping, Sequence
from datetime import date

from vr_plugin_research.results.sources import ReportSource, SourceQuality
from vr_plugin_research.settings import ResearchSettings

UNKNOWN = 0.5
"""The value of a part that nothing is known about."""
_KINDS: Mapping[str, float] = {"paper": 0.8, "document": 0.7, "record": 0.6, "text": 0.5}
_ENDINGS: Mapping[str, float] = {
    ".gov": 0.9,
    ".edu": 0.8,
    ".mil": 0.8,
    ".int": 0.85,
    ".ac.uk": 0.8,
    ".gov.uk": 0.9,
    ".europa.eu": 0.9,
}
"""Authority of hosts by whom they are given to; shown with each source, and open to argument."""
_CITED = 1_000
"""Citations from which a paper has full authority."""


def authority_of(source: ReportSource, citations: float | None = None) -> float:
    """The authority of a source, 0 to 1: by its host's ending, its kind, its citations."""
    host = source.origin
    by_host = max((v for end, v in _ENDINGS.items() if host.endswith(end)), default=UNKNOWN)
    known = max(by_host, _KINDS.get(source.kind, UNKNOWN))
    if citations is None:
        return known
    return max(known, min(1.0, math.log1p(max(0.0, citations)) / math.log1p(_CITED)))


def recency_of(published: str, today: date, half_life_years: float) -> float:
    """The recency of a source, 0 to 1: half as good after each half-life."""
    try:
        age = (today - date.fromisoformat(published[:10])).days / 365.25
    except ValueError:
        return UNKNOWN
    return float(0.5 ** (max(0.0, age) / half_life_years))


def weighed(
    sources: Sequence[ReportSource],
    settings: ResearchSettings,
    today: date,
    citations: Mapping[int, float],
) -> list[ReportSource]:
    """Return sources with their quality.

    Args:
        sources: with relevance and retraction as they are known.
        settings: has the weights.
        today: the date from which age counts.
        citations: of papers, by the number of the source.
    """
    seen: Counter[str] = Counter()
    result = []
    for source in sources:
        seen[source.origin] += 1
        parts = {
            "relevance": source.quality.relevance,
            "recency": recency_of(source.published, today, settings.half_life_years),
            "authority": authority_of(source, citations.get(source.number)),
            "independence": 1 / seen[source.origin],
        }
        weights = {name: float(getattr(settings, f"weight_{name}")) for name in parts}
        whole = sum(weights.values())
        mean = sum(parts[name] * weights[name] for name in parts) / whole if whole else 0.0
        retracted = source.quality.retracted
        score = 0.0 if retracted else mean
        rounded = {name: round(value, 3) for name, value in parts.items()}
        quality = SourceQuality(score=round(score, 3), retracted=retracted, **rounded)
        result.append(source.model_copy(update={"quality": quality}))
    return result
