"""Entries of a dossier: searches, their results, findings, decisions."""

from __future__ import annotations

from pydantic import BaseModel

from vr_plugin_research.results.claims import Citation, Tier
from vr_plugin_research.results.sources import ReportSource, SourceFailure, SourceKind


class Query(BaseModel):
    """A search that is to be made, or was; `question` is the number of its question, from 0."""

    id: str
    round: int
    text: str
    question: int = 0
    reason: str = ""


class Found(BaseModel):
    """A result of a search, or a source that was given; `id` counts them from 1."""

    id: int
    round: int
    address: str
    title: str = ""
    snippet: str = ""
    query: str = ""
    published: str = ""
    kind: SourceKind = "web"
    details: dict[str, str | float] = {}
    given: bool = False
    relevance: float = 0.0
    keep: bool = True
    reason: str = ""


class RawFinding(BaseModel):
    """A finding as it was reported, before its quote is looked up."""

    claim: str
    quote: str
    place: str = ""
    question: int = 0
    tier: Tier = "INFERENCE"
    confidence: float = 0.5
    reasoning: str = ""


class Finding(BaseModel):
    """A finding with its quote as it was looked up; `id` is `F1` and so on."""

    id: str
    round: int
    source: int
    question: int
    claim: str
    tier: Tier
    confidence: float
    reasoning: str = ""
    citation: Citation


class Decision(BaseModel):
    """Something that was kept or left out, and why."""

    id: str
    stage: str
    subject: str
    kept: bool
    reason: str = ""


class ReadSource(BaseModel):
    """A source that was read, with what was reported of it; a source without text has none."""

    id: int
    """The number of the source."""
    round: int
    found: int
    """The number of the result that led to it."""
    source: ReportSource
    wording: str = ""
    """A digest of its words alone, for telling copies."""
    citations: float | None = None
    reported: list[RawFinding] = []


class Failure(BaseModel):
    """A source that could not be read."""

    id: str
    failure: SourceFailure


Entry = Query | Found | ReadSource | Finding | Decision | Failure
