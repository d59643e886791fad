"""Results of the content tools."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field
from vr_kernel import Usage
from vr_kernel.quoting import Verdict

Engine = Literal["local", "model"]


class OutlineItem(BaseModel):
    """A heading, its level from 1, and its place in words."""

    title: str
    level: int
    place: str
    page: int | None = Field(None, exclude_if=lambda value: value is None)


class DocumentPictureItem(BaseModel):
    """A picture of a document, kept as an artifact."""

    uri: str
    place: str
    alt: str = Field("", exclude_if=lambda value: not value)
    width: int
    height: int


class Result(BaseModel):
    """The fields that all results about one document share."""

    source: str
    title: str
    mime: str
    sha256: str = Field("", exclude_if=lambda value: not value)
    limits: list[str] = Field([], description="what could not be done, and what to do about it")


class ContentPage(Result):
    """A part of a document as text; each piece begins with its place in brackets."""

    text: str
    first: str = Field("", description="place where it begins")
    last: str = Field("", description="place where it ends")
    total: int = Field(description="pieces of the whole document")
    pages: int | None = Field(None, exclude_if=lambda value: value is None)
    outline: list[OutlineItem] = Field([], exclude_if=lambda value: not value)
    pictures: list[DocumentPictureItem] = Field([], exclude_if=lambda value: not value)
    next_cursor: str | None = None
    text_uri: str = Field("", description="the whole document as Markdown")


class KeyPoint(BaseModel):
    """A point, the words of the source that carry it, and their place.

    A model's quote was looked for: `verified` at its place, `moved` to where it was found,
    `not_found`, or `unchecked` without a text to search.
    """

    text: str
    quote: str = Field("", exclude_if=lambda value: not value)
    place: str = Field("", exclude_if=lambda value: not value)
    page: int | None = Field(None, exclude_if=lambda value: value is None)
    link: str = Field("", exclude_if=lambda value: not value)
    status: Verdict | Literal[""] = Field("", exclude_if=lambda value: not value)
    original_place: str | None = Field(
        None, description="the model's own place", exclude_if=lambda value: value is None
    )


class ContentAnalysis(Result):
    """An analysis of one document."""

    engine: Engine = "local"
    model: str = ""
    cached: bool = False
    partial: bool = Field(default=False, description="the document could be read in part only")
    usage: Usage | None = None
    summary: str
    key_points: list[KeyPoint]
    entities: list[str]
    outline: list[OutlineItem] = []
    dropped: int = Field(
        0, description="points left out by strict", exclude_if=lambda value: not value
    )
    custom: dict[str, Any] | None = Field(None, exclude_if=lambda value: value is None)
    result_uri: str = Field("", description="the whole result as JSON")
    report_uri: str = Field("", description="the whole result as Markdown")
