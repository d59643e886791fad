"""Blocks of whole lines: texts with the numbers of the lines that they stand on."""

from __future__ import annotations

from collections.abc import Iterator

from vr_plugin_content.formats.parsed import Piece, TextBudget

BLOCK_CHARS = 1_500
"""Characters of a block, about; a block ends at a blank line, where there is one."""


def line_blocks(text: str, budget: TextBudget, first: int = 1) -> Iterator[Piece]:
    """Cut a text into blocks of whole lines, each with its place.

    A line that is longer than a block is cut into pieces that share its number.

    Args:
        text: with line feeds.
        budget: is spent.
        first: number of its first line.
    """
    block: list[str] = []
    size = begins = 0
    for number, line in enumerate(text.split("\n"), first):
        if len(line) > BLOCK_CHARS:
            yield from _ended(block, begins, budget)
            yield from _cut(line, number, budget)
            block, size = [], 0
            continue
        blank = not line.strip()
        if block and (size + len(line) > BLOCK_CHARS or (blank and size > BLOCK_CHARS // 2)):
            yield from _ended(block, begins, budget)
            block, size = [], 0
        if blank and not block:
            continue
        if not block:
            begins = number
        block.append(line)
        size += len(line) + 1
        if budget.left <= 0:
            break
    yield from _ended(block, begins, budget)


def _ended(block: list[str], begins: int, budget: TextBudget) -> Iterator[Piece]:
    """The piece of a block, without blank lines at its end."""
    while block and not block[-1].strip():
        block.pop()
    if not block:
        return
    text = budget.take("\n".join(block))
    if text.strip():
        last = begins + text.count("\n")
        yield Piece(text, {"first_line": begins, "last_line": last})


def _cut(line: str, number: int, budget: TextBudget) -> Iterator[Piece]:
    for start in range(0, len(line), BLOCK_CHARS):
        text = budget.take(line[start : start + BLOCK_CHARS])
        if text.strip():
            yield Piece(text, {"first_line": number, "last_line": number})
        if budget.left <= 0:
            budget.take(line[start + BLOCK_CHARS :])  # nothing, but it is told that this is cut
            return
