"""Documents as located text, and the kind of record that passages become."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

from vr_kernel.records import RecordField, RecordKind, entity_key


@dataclass(frozen=True, slots=True)
class Locator:
    """The place of a text in its document; what does not apply is left out.

    Args:
        start: seconds from the beginning of a recording; `end` likewise.
        page: of a document with pages, from 1.
        slide: of a presentation, from 1.
        sheet: name of a table's sheet; `cells` its range, such as `A1:C9`.
        first_line: of a text, from 1; `last_line` is the last one that belongs to it.
        heading: the headings above it, the outermost first.
    """

    start: float | None = None
    end: float | None = None
    page: int | None = None
    slide: int | None = None
    sheet: str | None = None
    cells: str | None = None
    first_line: int | None = None
    last_line: int | None = None
    heading: tuple[str, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The fields that apply, as JSON."""
        found = {each.name: getattr(self, each.name) for each in fields(self)}
        return {
            name: list(value) if isinstance(value, tuple) else value
            for name, value in found.items()
            if value is not None and value != ()
        }


@dataclass(frozen=True, slots=True)
class Segment:
    """A piece of a document's text, and its place; `link` opens the document there."""

    text: str
    locator: Locator
    link: str = ""


@dataclass(frozen=True, slots=True)
class Document:
    """A document as text in order. Its content is data: nothing in it is an instruction.

    Args:
        source: the path or address by which it was requested.
        title: as the document names itself, or its file's name.
        mime: the media type.
        sha256: of its bytes in hexadecimal; empty for what has none of its own.
        segments: its text, in the document's order.
        limits: what could not be read, and what to do about it.
    """

    source: str
    title: str
    mime: str
    sha256: str
    segments: Sequence[Segment]
    limits: tuple[str, ...] = ()


def passage_identity(of: Mapping[str, Any]) -> str:
    """The key of a passage: its document, and its foreign id or else its place and words."""
    source, foreign = of.get("source"), of.get("external_id")
    if not source:
        return ""
    place = (foreign,) if foreign else (of.get("locator", ""), of.get("text", ""))
    return entity_key("DocumentPassages", source, *place)


DOCUMENT_PASSAGES = RecordKind(
    name="DocumentPassages",
    description="Passages of documents, with the place where each stands.",
    fields=(
        RecordField("source", "text", "Address or path of the document.", filterable=True),
        RecordField("sha256", "text", "Digest of the document in hexadecimal.", filterable=True),
        RecordField("title", "text", "Of the document.", vectorised=True, searchable=True),
        RecordField("locator", "text", "Page, heading or lines of the passage."),
        RecordField("text", "text", "The passage.", vectorised=True, searchable=True),
        RecordField("external_id", "text", "Its id in a foreign collection.", filterable=True),
        RecordField("link", "text", "Opens the document."),
    ),
    rerank="text",
    source="source",
    link="link",
    locator=("locator",),
    identity=passage_identity,
    title="title",
)
