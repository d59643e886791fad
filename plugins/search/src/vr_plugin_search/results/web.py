"""Pages of the web that were found."""

from __future__ import annotations

from pydantic import BaseModel, Field
from vr_kernel import Usage


class WebSource(BaseModel):
    """A page; its words are others'."""

    title: str
    url: str
    snippet: str = Field("", exclude_if=lambda value: not value)
    published: str = Field("", exclude_if=lambda value: not value)
    provider: str = ""


class WebSearch(BaseModel):
    """The result of a search."""

    query: str
    response: str = Field("", description="written by a service from the sources")
    sources: list[WebSource]
    providers: list[str] = Field(description="services that answered")
    notes: list[str] = []
    usage: Usage | None = None
