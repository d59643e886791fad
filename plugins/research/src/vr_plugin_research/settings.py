"""The plugin's own configuration section, `[plugins.research]`."""

from __future__ import annotations

from pydantic import Field
from vr_kernel import Section


class ResearchSettings(Section):
    """Settings of the research tools."""

    concurrency: int = Field(
        4, ge=1, le=32, description="Sources that are read, and searches that run, at a time."
    )
    results_per_query: int = Field(8, ge=1, le=50, description="Results taken of one search.")
    read_tokens: int = Field(
        24_000,
        ge=1_000,
        le=500_000,
        description="Most tokens of one source that a model is given; the passages nearest to the"
        " questions are taken.",
    )
    max_documents: int = Field(12, ge=1, le=100, description="Documents of research_document.")
    least_novelty: float = Field(
        0.2, ge=0, le=1, description="A round with less that is new, as a part of 1, is the last."
    )
    write_share: float = Field(
        0.3, gt=0, lt=1, description="Part of a budget that is kept back for the report."
    )
    weight_relevance: float = Field(0.4, ge=0, description="Weight of a source's relevance.")
    weight_recency: float = Field(0.15, ge=0, description="Weight of how recent a source is.")
    weight_authority: float = Field(0.25, ge=0, description="Weight of who stands behind it.")
    weight_independence: float = Field(
        0.2, ge=0, description="Weight of being the only source of its origin."
    )
    half_life_years: float = Field(
        5.0, gt=0, le=100, description="Age at which recency is half as good, in years."
    )
