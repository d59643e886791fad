"""Results of parsing: plain data that a worker process hands to the server.

This module and all formats run in the worker, so they import nothing of the kernel.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Place = dict[str, Any]
"""Fields of a `vr_kernel.Locator`, such as `{"page": 7}`."""


@dataclass(slots=True)
class Piece:
    """A text of the document, in its order, with its place."""

    text: str
    place: Place


@dataclass(slots=True)
class OutlineEntry:
    """A heading, its level from 1, and its place."""

    text: str
    level: int
    place: Place


@dataclass(slots=True)
class ParsedPicture:
    """A picture that was written to the task's folder as `file`."""

    file: str
    mime: str
    place: Place
    alt: str = ""
    width: int = 0
    height: int = 0


@dataclass(slots=True)
class Parsed:
    """A document as its parser read it.

    Attributes:
        mime: the media type, as the bytes show it.
        title: as the document names itself; empty when it does not.
        pieces: its text in order; none of them is empty.
        outline: its headings in order.
        wordless: numbers of pages, from 1, that have no text but something to see.
        pages: number of pages; 0 for a format without pages.
        limits: what could not be read, and what to do about it.
    """

    mime: str
    title: str = ""
    pieces: list[Piece] = field(default_factory=list)
    outline: list[OutlineEntry] = field(default_factory=list)
    wordless: list[int] = field(default_factory=list)
    pages: int = 0
    limits: list[str] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Bounds:
    """Bounds of one task: more is left out, and said in `Parsed.limits`.

    Attributes:
        chars: of text, over all pieces.
        pages: that are read.
        pictures: that are written.
        pixels: of a picture that is decoded.
        files: of an archive that are read.
        file_mb: size of a document in an archive, and of all its files that are read, in MB.
        text_file_kb: size of a text file in an archive, in KB.
    """

    chars: int = 5_000_000
    pages: int = 5_000
    pictures: int = 200
    pixels: int = 100_000_000
    files: int = 20_000
    file_mb: int = 100
    text_file_kb: int = 1_024


@dataclass(frozen=True, slots=True)
class Asked:
    """The request of a task to a parser.

    Attributes:
        name: of the file, for its title and its kind; never opened.
        mime: as the server of a page says; empty for a file.
        charset: likewise.
        password: of an encrypted document; kept nowhere.
        pages: numbers of the pages to render; all when it is empty.
        scale: of rendering, in pixels per point.
        folder: where pictures are written; None for a task that writes none.
        address: of a page of the web, which its links are relative to.
        bounds: of the task.
    """

    name: str = ""
    mime: str = ""
    charset: str = ""
    password: str = field(default="", repr=False)
    pages: tuple[int, ...] = ()
    scale: float = 2.0
    folder: Path | None = None
    address: str = ""
    bounds: Bounds = Bounds()

    @classmethod
    def read(cls, given: Mapping[str, Any]) -> Asked:
        """Make it from JSON; see `as_json` of the task."""
        folder = given.get("folder")
        values = {
            **given,
            "pages": tuple(given.get("pages", ())),
            "folder": Path(folder) if folder else None,
            "bounds": Bounds(**given.get("bounds", {})),
        }
        return cls(**values)


class ParseError(Exception):
    """A file that cannot be parsed.

    Attributes:
        code: name of a `vr_kernel.Code`: UNSUPPORTED, INVALID_INPUT, TOO_LARGE, AUTH, UNAVAILABLE.
        category: of this plugin, such as `DOCUMENT_DAMAGED`.
        message: one sentence for a person, without a secret.
        hint: what to do next.
    """

    def __init__(self, category: str, message: str, hint: str, code: str = "UNSUPPORTED") -> None:
        super().__init__(message)
        self.code, self.category, self.message, self.hint = code, category, message, hint


class TextBudget:
    """Counts the characters of a document, and cuts it where its bound is reached."""

    def __init__(self, bounds: Bounds) -> None:
        self.most = bounds.chars
        self.left = bounds.chars
        self.cut = False

    def take(self, text: str) -> str:
        """Return as much of a text as there is room for; empty when there is none left."""
        taken = text[: self.left]
        self.left -= len(taken)
        self.cut = self.cut or len(taken) < len(text)
        return taken

    @property
    def limits(self) -> list[str]:
        """The remark about what was cut; none when nothing was."""
        if not self.cut:
            return []
        return [f"Only its first {self.most:,} characters were read; see max_chars."]


def damaged(what: str) -> ParseError:
    """The error of bytes that cannot be read as what they seem to be."""
    return ParseError(
        "DOCUMENT_DAMAGED",
        f"This cannot be read as {what}: it is damaged or incomplete.",
        "Open it in its own program to see if it is whole, and save it again.",
    )
