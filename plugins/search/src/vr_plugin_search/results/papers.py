"""Papers, and what was found of them."""

from __future__ import annotations

from typing import Literal

from pydantic import BaseModel, Field

Direction = Literal["citations", "references", "recommendations"]


class Paper(BaseModel):
    """A paper, as services know it. What none of them says is empty."""

    title: str
    authors: list[str] = []
    year: int | None = None
    venue: str = ""
    abstract: str = ""
    url: str
    pdf: str = Field("", description="open access")
    doi: str = ""
    arxiv: str = ""
    citations: int | None = None
    retracted: bool | None = Field(None, description="null: not known")
    published: str = Field("", exclude_if=lambda value: not value)
    id: str = Field("", description="takes paper_citations")
    provider: str = Field("", description="services that found it")


class PaperResults(BaseModel):
    """Papers that were found, the best first."""

    query: str
    papers: list[Paper]
    providers: list[str]
    notes: list[str] = []


class PaperCitations(BaseModel):
    """Papers that stand in a relation to another one."""

    paper_id: str
    direction: Direction
    papers: list[Paper]
    providers: list[str]
    notes: list[str] = []
