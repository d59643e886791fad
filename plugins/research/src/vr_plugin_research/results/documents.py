"""Reports about given documents: a map of each, their findings, and how they agree."""

from __future__ import annotations

from pydantic import BaseModel, Field

from vr_plugin_research.results.report import ResearchReport


class DocumentSection(BaseModel):
    """A part of a document, and what it is about."""

    title: str
    place: str = ""
    summary: str = ""


class DocumentMap(BaseModel):
    """A document in outline: what it is, what it claims, how it is built."""

    source: int = Field(description="number of the source in the report")
    title: str
    kind: str = ""
    summary: str = ""
    sections: list[DocumentSection] = []
    key_claims: list[str] = []


class CrossReference(BaseModel):
    """Something that several documents say, or say differently."""

    topic: str
    agreement: str = ""
    disagreement: str = ""
    sources: list[int] = []


class DocumentReport(ResearchReport):
    """A report about given documents."""

    documents: list[DocumentMap] = Field([], description="an outline of each")
    cross_references: list[CrossReference] = Field([], description="of several documents")
