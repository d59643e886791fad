"""SVG: the words in a drawing, without its entities and whatever they would lead to."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, BinaryIO

from vr_plugin_content.formats.encodings import blank, decoded
from vr_plugin_content.formats.parsed import Asked, Parsed, ParseError, Piece, TextBudget

MIME = "image/svg+xml"
MOST_BYTES = 20_000_000
TOLD = "title, desc, text"
"""Elements that hold words."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read the words of a drawing, each with the number of its element.

    Raises:
        ParseError: DOCUMENT_UNSAFE for a drawing with entities; DOCUMENT_EMPTY without a word.
    """
    markup = decoded(file.read(MOST_BYTES), asked.charset)
    if "<!ENTITY" in markup or "<!entity" in markup.lower():
        raise _unsafe()
    budget = TextBudget(asked.bounds)
    drawing = _root(markup)
    title = drawing.css_first("title")
    pieces = list(_pieces(drawing, budget))
    if not pieces:
        raise blank()
    named = " ".join(title.text().split()) if title is not None else ""
    return Parsed(MIME, named, pieces, limits=budget.limits)


def _root(markup: str) -> Any:
    from selectolax.lexbor import LexborHTMLParser

    return LexborHTMLParser(markup)


def _pieces(drawing: Any, budget: TextBudget) -> Iterator[Piece]:
    for number, node in enumerate(drawing.css(TOLD), 1):
        words = budget.take(" ".join(node.text(deep=True, separator=" ").split()))
        if words:
            yield Piece(words, {"heading": [f"{node.tag} {number}"]})


def _unsafe() -> ParseError:
    message = "The drawing defines entities, which are not read."
    return ParseError("DOCUMENT_UNSAFE", message, "Save it again from a drawing program.")
