"""Parsed documents as they are kept in the cache, and the documents that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import BaseModel, Field
from vr_kernel import Document, Heading, Locator, Segment, visible, visible_line

from vr_plugin_content.sources import Source

FORMATS_VERSION = 1
"""Raise it when a format reads files differently: what was kept before is parsed again."""
TITLE_CHARS = 300


class KeptPiece(BaseModel):
    """A text and its place: the fields of a `Locator`."""

    text: str
    place: dict[str, Any] = {}


class KeptHeading(BaseModel):
    """A heading, its level, and its place."""

    text: str
    level: int
    place: dict[str, Any] = {}


class KeptDocument(BaseModel):
    """The result of reading a file: by its parser, and by a recogniser on pages without text."""

    mime: str
    title: str = ""
    pieces: list[KeptPiece]
    outline: list[KeptHeading] = []
    wordless: list[int] = Field([], description="pages that show more than their text says")
    pages: int = 0
    limits: list[str] = []

    @classmethod
    def of(cls, parsed: Mapping[str, Any]) -> KeptDocument:
        """Make it of the answer of a worker of ours, which needs no check of every piece."""
        return cls.model_construct(
            **{
                **parsed,
                "pieces": [KeptPiece.model_construct(**each) for each in parsed["pieces"]],
                "outline": [KeptHeading.model_construct(**each) for each in parsed["outline"]],
            }
        )

    def as_document(self, source: Source) -> Document:
        """Return the document of a source that has these bytes."""
        address = source.opened_by
        return Document(
            source=source.address,
            title=visible_line(self.title, TITLE_CHARS) or source.name,
            mime=self.mime,
            sha256=source.sha256,
            segments=[_segment(source, address, piece) for piece in self.pieces],
            limits=tuple(self.limits),
            outline=tuple(_heading(each) for each in self.outline),
        )


def locator_of(place: Mapping[str, Any]) -> Locator:
    """Return the locator of a place."""
    given = dict(place)
    for name in ("heading", "box"):
        if name in given:
            given[name] = tuple(given[name])
    return Locator(**given)


def _segment(source: Source, address: str, piece: KeptPiece) -> Segment:
    place, text = locator_of(piece.place), visible(piece.text)
    return Segment(text, place, source.link(address, place, text))


def _heading(kept: KeptHeading) -> Heading:
    return Heading(visible_line(kept.text, TITLE_CHARS), kept.level, locator_of(kept.place))
