"""Sources of a report: where they are, what was kept of them, and how good they are."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

SourceKind = Literal["web", "paper", "document", "video", "record", "text"]


class SourceQuality(BaseModel):
    """How much a source weighs: parts from 0 to 1, and their weighted mean."""

    score: float = 0.0
    relevance: float = 0.0
    recency: float = 0.0
    authority: float = 0.0
    independence: float = Field(1.0, description="1 for the first of its origin, less for others")
    retracted: bool = False


class ReportSource(BaseModel):
    """A source that was read."""

    number: int
    title: str
    source: str = Field(description="address or path")
    kind: SourceKind = "web"
    sha256: str = ""
    authors: list[str] = []
    doi: str = ""
    venue: str = ""
    published: str = Field("", description="ISO date, as far as it is known")
    origin: str = Field("", description="host, publisher or file that it comes from")
    snapshot: str = Field("", description="address of the text that was read, as it was")
    quality: SourceQuality = SourceQuality()
    cited: int = 0
    limits: list[str] = []


class SourceFailure(BaseModel):
    """A source that could not be read, and why."""

    source: str
    code: str
    category: str = ""
    message: str
    hint: str = ""
