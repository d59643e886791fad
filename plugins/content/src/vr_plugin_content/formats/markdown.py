"""Markdown: sections with the headings above them and their lines."""

from __future__ import annotations

import re
from typing import BinaryIO

from vr_plugin_content.formats import plain_text
from vr_plugin_content.formats.encodings import blank, decoded
from vr_plugin_content.formats.markdown_sections import LARGEST, pieces_of
from vr_plugin_content.formats.parsed import Asked, Parsed, TextBudget

MIME = "text/markdown"
_FRONT = re.compile(r"---\n(.*?\n)?(---|\.\.\.)(\n|\Z)", re.DOTALL)
_KEY = re.compile(r"^[\w-]+[ \t]*:", re.MULTILINE)
_TITLE = re.compile(r"^title:[ \t]*(.+)$", re.MULTILINE)
MOST_LINES = 100_000
"""Most lines that are parsed as Markdown: two seconds, when each is a heading."""
MOST_CELLS = 200_000
"""Most cells of tables that are parsed as Markdown, likewise."""
FRONT_CHARS = 20_000
"""Most characters of a front matter."""


def parse(file: BinaryIO, asked: Asked) -> Parsed:
    """Read a Markdown text.

    Raises:
        ParseError: DOCUMENT_EMPTY; DOCUMENT_BINARY for what is no text.
    """
    text = decoded(
        file.read(plain_text.BYTES_A_CHARACTER * (asked.bounds.chars + 1)), asked.charset
    )
    if _is_hard(text):
        file.seek(0)
        found = plain_text.parse(file, asked)
        found.mime = MIME
        return found
    front = _FRONT.match(text[:FRONT_CHARS])
    front = front if front and _KEY.search(front[1] or "") else None
    skipped = front.end() if front else 0
    named = _TITLE.search(front[1] or "") if front else None
    title = named[1].strip().strip("'\"") if named else ""
    first = text.count("\n", 0, skipped) + 1
    budget = TextBudget(asked.bounds)
    pieces, outline = pieces_of(text[skipped:], title or asked.name, budget, first)
    if not pieces:
        raise blank()
    title = title or (outline[0].text if outline else "")
    return Parsed(MIME, title, pieces, outline, limits=budget.limits)


def _is_hard(text: str) -> bool:
    """True for a text that the parser of Markdown needs many seconds for."""
    return len(text) > LARGEST or text.count("\n") > MOST_LINES or text.count("|") > MOST_CELLS
