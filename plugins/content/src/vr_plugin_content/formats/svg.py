"""SVG: the words in a drawing, without its entities and whatever they would lead to."""

from __future__ import annotations

from typing import Any, BinaryIO
from xml.parsers import expat

from vr_plugin_content.formats.encodings import blank, decoded
from vr_plugin_content.formats.parsed import (
    Asked,
    Parsed,
    ParseError,
    Piece,
    TextBudget,
    damaged,
)

MIME = "image/svg+xml"
MOST_BYTES = 50_000_000
BLOCK_CHARS = 1_000
"""Characters of a piece, about: a label of a drawing alone says little."""
TITLE_CHARS = 300
TOLD = frozenset({"title", "desc", "text", "foreignobject"})
"""Elements that hold words; labels of diagram programs stand in the last one."""
SILENT = frozenset({"script", "style", "metadata"})
LINES = frozenset({"br", "div", "p", "li", "tr", "td", "th", "h1", "h2", "h3", "h4", "h5", "h6"})
"""Elements of HTML that begin a new line or cell."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the words of a drawing, with the lines of its file on which they stand.

    Raises:
        ParseError: DOCUMENT_UNSAFE for a drawing with entities; DRAWING_TOO_LARGE;
            DOCUMENT_EMPTY without a word; DOCUMENT_DAMAGED.
    """
    content = file.read(MOST_BYTES + 1)
    if len(content) > MOST_BYTES:
        raise _too_large()
    words = _Words(TextBudget(asked.bounds))
    try:
        words.read(decoded(content, asked.charset))
    except expat.ExpatError:
        raise damaged("an SVG drawing") from None
    if not words.pieces:
        raise blank()
    return Parsed(MIME, words.title[:TITLE_CHARS], words.pieces, limits=words.budget.limits)


class _Words:
    """Collects the words while the markup goes by."""

    def __init__(self, budget: TextBudget) -> None:
        self.budget = budget
        self.pieces: list[Piece] = []
        self.title = ""
        self._parser = expat.ParserCreate()
        self._open: list[str] = []
        self._told_at = self._silent_at = 0  # depth of the element that is read, or left out
        self._begins = 0
        self._fragments: list[str] = []
        self._choices: dict[int, bool] = {}  # by depth of a `switch`: whether one of it was read

    def read(self, markup: str) -> None:
        self._parser.buffer_text = True
        self._parser.StartElementHandler = self._start
        self._parser.EndElementHandler = self._end
        self._parser.CharacterDataHandler = self._characters
        self._parser.EntityDeclHandler = _refuse
        self._parser.Parse(markup, True)

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        tag = name.rpartition(":")[2].lower()
        self._open.append(tag)
        depth = len(self._open)
        if self._silent_at:
            return
        if tag in SILENT or self._choices.get(depth - 1):
            self._silent_at = depth
        elif self._told_at:
            self._fragments.append(_gap(tag, attributes))
        elif tag in TOLD:
            self._told_at, self._begins = depth, self._parser.CurrentLineNumber
        elif tag == "switch":
            self._choices[depth] = False

    def _characters(self, characters: str) -> None:
        if self._told_at and not self._silent_at:
            self._fragments.append(" ".join(characters.split("\n")))

    def _end(self, _: str) -> None:
        depth, tag = len(self._open), self._open.pop()
        if depth == self._silent_at:
            self._silent_at = 0
        elif depth == self._told_at:
            self._keep(tag, depth)
            self._told_at, self._fragments = 0, []
        elif self._told_at and tag in LINES:
            self._fragments.append("\n")
        self._choices.pop(depth, None)

    def _keep(self, tag: str, depth: int) -> None:
        lines = (" ".join(line.split()) for line in "".join(self._fragments).split("\n"))
        text = self.budget.take("\n".join(line for line in lines if line))
        if not text:
            return
        if tag == "title" and depth == 2 and not self.title:  # noqa: PLR2004 - right below the root
            self.title = " ".join(text.split())
        for choice in reversed(self._choices):
            if self._choices[choice]:
                break
            self._choices[choice] = True
        self._add(text, self._begins, self._parser.CurrentLineNumber)

    def _add(self, text: str, first: int, last: int) -> None:
        if self.pieces and len(self.pieces[-1].text) + len(text) < BLOCK_CHARS:
            self.pieces[-1].text += f"\n{text}"
            self.pieces[-1].place["last_line"] = last
        else:
            self.pieces.append(Piece(text, {"first_line": first, "last_line": last}))


def _gap(tag: str, attributes: dict[str, str]) -> str:
    """Return what stands between the words before an element and those in it."""
    if tag in LINES or "y" in attributes or "dy" in attributes:
        return "\n"
    return " " if "x" in attributes else ""


def _refuse(*_: Any) -> None:
    message = "The drawing defines entities, which are not read."
    raise ParseError("DOCUMENT_UNSAFE", message, "Save it again as plain SVG, without entities.")


def _too_large() -> ParseError:
    message = f"The drawing has more than {MOST_BYTES // 1_000_000} MB."
    hint = "Save it again without the pictures in it."
    return ParseError("DRAWING_TOO_LARGE", message, hint, "TOO_LARGE")
