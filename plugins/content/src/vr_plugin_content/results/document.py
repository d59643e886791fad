"""The result of `content_read`, and what all results about one document share."""

from __future__ import annotations

from pydantic import BaseModel, Field


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
