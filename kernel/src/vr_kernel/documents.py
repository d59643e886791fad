"""Documents as located text, and the kind of record that passages become."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
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
        file: of a folder or an archive, the path of the file in it, with `/` between names.
        cell: of a notebook, from 1.
        message: of a mailbox or a conversation, from 1.
        box: left, top, width and height, in pixels of a picture and in points of a page.
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
    file: str | None = None
    cell: int | None = None
    message: int | None = None
    box: tuple[float, float, float, float] | None = None

    def __str__(self) -> str:
        """Return the place in words, see `label`."""
        return self.label

    @property
    def label(self) -> str:
        """The place in words, such as `p. 7` or `notes.md, lines 3-9`; empty for none.

        A box is told where nothing else is known: `at 120, 48`.
        """
        at = f"at {self.box[0]:g}, {self.box[1]:g}" if self.box else ""
        return ", ".join(_words(self)) or at

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
class Heading:
    """A heading of a document: its words, its level from 1, and its place."""

    text: str
    level: int
    locator: Locator


@dataclass(frozen=True, slots=True)
class DocumentPicture:
    """A picture of a document, kept as an artifact.

    Args:
        uri: the address of the artifact.
        mime: such as `image/png`.
        locator: the page and the box, where they are known.
        alt: the words that the document gives for it.
        width: in pixels; `height` likewise.
    """

    uri: str
    mime: str
    locator: Locator
    alt: str = ""
    width: int = 0
    height: int = 0


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
        outline: its headings in order, where it has any.
        pictures: those that it holds, when they were asked for.
    """

    source: str
    title: str
    mime: str
    sha256: str
    segments: Sequence[Segment]
    limits: tuple[str, ...] = ()
    outline: Sequence[Heading] = ()
    pictures: Sequence[DocumentPicture] = ()


def _words(of: Locator) -> Iterator[str]:
    """Name each part of a place."""
    numbered = {"p.": of.page, "slide": of.slide, "cell": of.cell, "message": of.message}
    if of.file:
        yield of.file
    if of.sheet is not None:
        yield f"{of.sheet}!{of.cells}" if of.cells else of.sheet
    yield from (f"{word} {number}" for word, number in numbered.items() if number is not None)
    if of.heading:
        yield " > ".join(of.heading)
    if of.first_line is not None:
        several = of.last_line is not None and of.last_line != of.first_line
        yield f"lines {of.first_line}-{of.last_line}" if several else f"line {of.first_line}"
    if of.start is not None:
        minutes, seconds = divmod(int(of.start), 60)
        yield f"{minutes}:{seconds:02}"


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
        RecordField(
            "heading", "text", "Headings above the passage.", vectorised=True, searchable=True
        ),
        RecordField("page", "int", "Page of the passage, from 1.", filterable=True, range=True),
        RecordField("locator", "text", "Page, heading or lines of the passage."),
        RecordField("position", "int", "Number of the passage in the document, from 0."),
        RecordField("text", "text", "The passage.", vectorised=True, searchable=True),
        RecordField("external_id", "text", "Its id in a foreign collection.", filterable=True),
        RecordField("link", "text", "Opens the document."),
    ),
    rerank="text",
    source="source",
    link="link",
    locator=("page", "locator"),
    identity=passage_identity,
    title="title",
    headings="heading",
)
