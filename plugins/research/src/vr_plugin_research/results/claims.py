"""Claims with their evidence: tiers, confidence, quotes that were looked up, contradictions."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Tier = Literal["CONFIRMED", "STRONG INDICATOR", "INFERENCE", "SPECULATION", "UNKNOWN"]
TIERS: tuple[Tier, ...] = (
    "CONFIRMED",
    "STRONG INDICATOR",
    "INFERENCE",
    "SPECULATION",
    "UNKNOWN",
)
"""The tiers of evidence, the best first."""
Verdict = Literal["verified", "moved", "not_found", "unchecked"]
FOUND: tuple[Verdict, ...] = ("verified", "moved")
Stance = Literal["supports", "contradicts"]
ConflictKind = Literal["number", "date", "scope", "method"]


class Citation(BaseModel):
    """Words of a source, and what became of looking them up there."""

    source: int = Field(description="number of the source in the report, from 1")
    quote: str = ""
    status: Verdict = "unchecked"
    stance: Stance = "supports"
    place: str = ""
    page: int | None = None
    start: float | None = Field(None, description="seconds, of a recording")
    link: str = ""
    original_place: str | None = Field(None, description="as claimed, where the quote moved")


class Claim(BaseModel):
    """A claim: how well it stands, and the quotes for and against it."""

    id: str
    claim: str
    evidence_tier: Tier
    confidence: float
    reasoning: str = ""
    section: str = Field("", description="the question of the plan that it answers")
    citations: list[Citation] = []
    notes: list[str] = Field([], description="why it stands lower than was claimed")

    @property
    def supporting(self) -> list[Citation]:
        """The quotes for it."""
        return [each for each in self.citations if each.stance == "supports"]

    @property
    def contradicting(self) -> list[Citation]:
        """The quotes against it."""
        return [each for each in self.citations if each.stance == "contradicts"]


class Contradiction(BaseModel):
    """Two claims that cannot both hold."""

    claim_a: str = Field(description="id of a claim of this report")
    claim_b: str = Field(description="id of another one; its words when it is of another report")
    kind: ConflictKind
    explanation: str = ""
    report_b: str | None = Field(None, description="id of the earlier report that has claim_b")


class CheckScore(BaseModel):
    """Counts of the quotes of a report, by what became of looking them up."""

    quotes: int = 0
    verified: int = 0
    moved: int = 0
    not_found: int = 0
    unchecked: int = 0

    @property
    def share(self) -> float:
        """The part of the quotes that stand in their source, 0 to 1; 1 without quotes."""
        return (self.verified + self.moved) / self.quotes if self.quotes else 1.0


def score_of(claims: list[Claim]) -> CheckScore:
    """Count the quotes of claims by what became of them."""
    counted = CheckScore()
    for citation in (each for claim in claims for each in claim.citations):
        counted.quotes += 1
        setattr(counted, citation.status, getattr(counted, citation.status) + 1)
    return counted
