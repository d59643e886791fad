"""Rows of tables as Markdown, in blocks that each repeat the header."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

BLOCK_CHARS = 1_500
"""Characters of a block of rows, about."""
CELL_CHARS = 2_000
"""Most characters of a cell that are shown."""
LETTERS = 26


@dataclass(frozen=True, slots=True)
class Row:
    """A row of a table: its cells, its number from 1, and the lines it stands on in a file."""

    cells: Sequence[str]
    number: int
    first_line: int = 0
    last_line: int = 0


@dataclass(frozen=True, slots=True)
class Block:
    """Some rows as a Markdown table, with the first and the last of them, without the header."""

    text: str
    first: Row
    last: Row


def blocks_of(header: Row, rows: Iterator[Row]) -> Iterator[Block]:
    """Cut rows into blocks, each a table with the header; the header alone, without a row."""
    width = len(header.cells)
    head = f"{_line(header.cells, width)}\n|{' --- |' * max(width, 1)}"
    taken: list[Row] = []
    text = head
    for row in rows:
        line = _line(row.cells, width)
        if taken and len(text) + len(line) > BLOCK_CHARS:
            yield Block(text, taken[0], taken[-1])
            taken, text = [], head
        taken.append(row)
        text = f"{text}\n{line}"
    if taken:
        yield Block(text, taken[0], taken[-1])
    else:
        yield Block(head, header, header)


def column_name(number: int) -> str:
    """Return the name of a column: 0 is `A`, 26 is `AA`."""
    name = ""
    number += 1
    while number:
        number, rest = divmod(number - 1, LETTERS)
        name = chr(ord("A") + rest) + name
    return name


def cell_range(first: Row, last: Row, left: int, width: int) -> str:
    """Return the range of some rows, such as `A2:D40`."""
    right = column_name(left + max(width, 1) - 1)
    return f"{column_name(left)}{first.number}:{right}{last.number}"


def _line(cells: Sequence[str], width: int) -> str:
    padded = [*cells, *[""] * (width - len(cells))]
    return "| " + " | ".join(map(_cell, padded)) + " |"


def _cell(text: str) -> str:
    return " ".join(text[:CELL_CHARS].replace("|", "\\|").split())
