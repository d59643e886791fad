"""Results of checking a report again."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

from vr_plugin_research.results.claims import CheckScore, Tier, Verdict

Change = Literal["unchanged", "changed", "stale", "unchecked"]


class CitationCheck(BaseModel):
    """A quote that is found otherwise than when the report was written."""

    claim: str = Field(description="id of the claim")
    source: int
    quote: str
    before: Verdict
    now: Verdict
    place: str = ""
    reason: str = ""


class ClaimCheck(BaseModel):
    """A claim whose evidence changed, and the tier that it still holds."""

    claim: str
    text: str
    change: Change
    tier_before: Tier
    tier_now: Tier


class Verification(BaseModel):
    """All checks of a report, made again."""

    report_id: str
    topic: str
    refreshed: bool = Field(False, description="the sources were fetched again")
    claims: int = 0
    stand: int = Field(0, description="claims with a quote that stands now")
    score: CheckScore = CheckScore()
    changed_claims: list[ClaimCheck] = []
    changed_citations: list[CitationCheck] = []
    limits: list[str] = []
