"""Reports of research: claims with checked quotes, what contradicts, what is not known."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage

from vr_plugin_research.results.claims import CheckScore, Claim, Contradiction, Tier
from vr_plugin_research.results.sources import ReportSource, SourceFailure

Scope = Literal["quick", "moderate", "deep", "comprehensive"]
Engine = Literal["model", "local"]


class Coverage(BaseModel):
    """A question of the plan, and how well it is answered."""

    question: str
    claims: int = 0
    sources: int = 0
    best_tier: Tier = "UNKNOWN"
    established: bool = False


class Round(BaseModel):
    """A round of research: what was searched, kept and read, and how much of it was new."""

    number: int
    queries: list[str] = []
    found: int = 0
    kept: int = 0
    read: int = 0
    findings: int = 0
    novelty: float = Field(1.0, description="part of the findings that no earlier round had")


class ResearchReport(BaseModel):
    """A report. A shortened one names the files that have all of it."""

    report_id: str
    topic: str
    scope: Scope
    status: Literal["done", "stopped", "waiting"] = "done"
    executive_summary: str
    findings: list[Claim] = []
    contradictions: list[Contradiction] = []
    coverage: list[Coverage] = []
    not_established: list[str] = Field([], description="questions without a claim that stands")
    open_questions: list[str] = []
    methodology_critique: str = ""
    recommendations: list[str] = []
    sources: list[ReportSource] = []
    failures: list[SourceFailure] = []
    rounds: list[Round] = []
    score: CheckScore = CheckScore()
    limits: list[str] = Field([], description="what was not done, and why")
    engine: Engine = "model"
    models: list[str] = []
    created_at: str = ""
    files: dict[str, str] = Field({}, description="artifacts that have all of it, by format")
    plan_id: str | None = None
    usage: Usage | None = None

    def source(self, number: int) -> ReportSource | None:
        """The source of that number."""
        return next((each for each in self.sources if each.number == number), None)

    def claim(self, id: str) -> Claim | None:  # noqa: A002 - the word for it
        """The claim of that id."""
        return next((each for each in self.findings if each.id == id), None)
