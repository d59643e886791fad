"""Assessments of one claim against sources."""

from __future__ import annotations

from pydantic import BaseModel
from vr_kernel import Usage

from vr_plugin_research.results.claims import CheckScore, Citation, Tier
from vr_plugin_research.results.report import Engine
from vr_plugin_research.results.sources import ReportSource, SourceFailure


class EvidenceAssessment(BaseModel):
    """How well a claim stands, with the quotes for and against it."""

    claim: str
    tier: Tier
    confidence: float
    reasoning: str = ""
    supporting: list[Citation] = []
    contradicting: list[Citation] = []
    sources: list[ReportSource] = []
    failures: list[SourceFailure] = []
    score: CheckScore = CheckScore()
    limits: list[str] = []
    engine: Engine = "model"
    model: str = ""
    usage: Usage | None = None
