"""Sections of Markdown: each with the headings above it and its lines."""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from vr_plugin_content.formats.parsed import OutlineEntry, Piece, Place, TextBudget

HEADING_CHARS = 300
"""Most characters of a heading in a place."""
LONGEST = 6_000
"""Most characters of a section; a longer one is cut between its blocks."""
NESTING = 20
"""Deepest nesting of lists and quotes that is looked into."""
LARGEST = 1_500_000
"""Most characters that are parsed as Markdown; the parser needs seconds for more."""
_RULE = re.compile(r"\|(?: *:?-+:? *\|)+ *")
"""Stands between the header and the rows of a table."""
_ESCAPED = re.compile(r"\\([][!.()_~$&<>#+*-])")


@dataclass(slots=True)
class Section:
    """A part of a text below one path of headings; lines count from 0, the last is left out."""

    path: tuple[str, ...]
    level: int
    first: int
    last: int
    blocks: list[tuple[int, int]] = field(default_factory=list)


def sections_of(text: str) -> list[Section]:
    """Cut a text at its headings; the part before the first one has an empty path."""
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark", {"maxNesting": NESTING}).enable("table")
    parser.disable(["inline", "text_join"], ignoreInvalid=True)
    tokens = parser.parse(text)
    lines = text.count("\n") + 1
    sections = [Section((), 0, 0, lines)]
    path: list[tuple[int, str]] = []
    for at, token in enumerate(tokens):
        if token.map is None or token.level or token.nesting < 0:
            continue
        first, last = token.map
        if token.type == "heading_open":
            level = int(token.tag[1])
            path = [each for each in path if each[0] < level]
            path.append((level, plain(tokens[at + 1].content)))
            sections[-1].last = first
            sections.append(Section(tuple(name for _, name in path), level, first, lines))
        sections[-1].blocks.append((first, last))
    return [each for each in sections if each.blocks]


def pieces_of(
    text: str, title: str, budget: TextBudget, first_line: int | None = 1, **place: Any
) -> tuple[list[Piece], list[OutlineEntry]]:
    """Return the sections of a text as pieces, and its headings.

    Args:
        text: in Markdown.
        title: stands for the headings of what is above the first one.
        budget: is spent.
        first_line: number of the text's first line; None leaves lines out of the places, and has
            each part of a long table repeat its header.
        place: what every place has besides.
    """
    lines, pieces, outline = text.split("\n"), list[Piece](), list[OutlineEntry]()
    for section in sections_of(text):
        above: Place = {**place, "heading": list(section.path or (title,))}
        if section.path:
            entry = _located(above, section.first, section.first + 1, first_line)
            outline.append(OutlineEntry(section.path[-1], section.level, entry))
        for first, last in _parts(section, lines):
            header = _header(section, lines, first) if first_line is None else []
            said = budget.take("\n".join([*header, *lines[first:last]]).strip("\n"))
            if said.strip():
                pieces.append(Piece(said, _located(above, first, last, first_line)))
    return pieces, outline


def plain(heading: str) -> str:
    """Return the words of a heading without their marks; every place below repeats them."""
    words = " ".join(heading.replace("**", "").replace("`", "").split())
    return words[:HEADING_CHARS] or "#"


def unescaped(text: str) -> str:
    """Return a text without the backslashes that a writer of Markdown put before plain signs."""
    return _ESCAPED.sub(r"\1", text)


def _parts(section: Section, lines: list[str]) -> Iterator[tuple[int, int]]:
    """The first line and the one behind the last of each part of a section."""
    begins, size = section.first, 0
    for first, last in _cuttable(section.blocks, lines):
        length = sum(len(line) + 1 for line in lines[first:last])
        if size and size + length > LONGEST:
            yield begins, first
            begins, size = first, 0
        size += length
    yield begins, section.last


def _header(section: Section, lines: list[str], at: int) -> list[str]:
    """The two lines that begin the table in whose middle a part begins; none anywhere else."""
    begins, ends = section.blocks[max(0, bisect_left(section.blocks, (at, 0)) - 1)]
    is_table = begins + 1 < at < ends and _RULE.fullmatch(lines[begins + 1])
    return lines[begins : begins + 2] if is_table else []


def _cuttable(blocks: list[tuple[int, int]], lines: list[str]) -> Iterator[tuple[int, int]]:
    """The blocks of a section; a long one, such as code, is cut between any of its lines."""
    for first, last in blocks:
        if sum(len(line) + 1 for line in lines[first:last]) <= LONGEST:
            yield first, last
        else:
            yield from ((line, line + 1) for line in range(first, last))


def _located(above: Place, first: int, last: int, first_line: int | None) -> Place:
    if first_line is None:
        return dict(above)
    return {**above, "first_line": first_line + first, "last_line": first_line + last - 1}
