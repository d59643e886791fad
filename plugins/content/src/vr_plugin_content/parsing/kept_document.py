"""Parsed documents as they are kept in the cache, and the documents that are made of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Protocol

from pydantic import BaseModel, Field
from vr_kernel import Document, Heading, Locator, Segment, visible, visible_line

FORMATS_VERSION = 2
"""Raise it when a format reads files differently: what was kept before is parsed again."""
TITLE_CHARS = 300


class Links(Protocol):
    """Addresses of the places of a document."""

    def link(self, place: Locator, text: str) -> str:
        """Return what opens a place, given the text that stands there; empty for nothing."""


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

    def as_document(self, address: str, name: str, sha256: str, links: Links) -> Document:
        """Return it as a document.

        Args:
            address: of its source.
            name: a title, when it has none.
            sha256: of what it was read from.
            links: to its places.
        """
        return Document(
            source=address,
            title=visible_line(self.title, TITLE_CHARS) or name,
            mime=self.mime,
            sha256=sha256,
            segments=[_segment(piece, links) for piece in self.pieces],
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


def _segment(piece: KeptPiece, links: Links) -> Segment:
    place, text = locator_of(piece.place), visible(piece.text)
    return Segment(text, place, links.link(place, text))


def _heading(kept: KeptHeading) -> Heading:
    return Heading(visible_line(kept.text, TITLE_CHARS), kept.level, locator_of(kept.place))
