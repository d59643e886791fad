"""Columns of a page: each is read to its end before the next one, as people do."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median

from vr_kernel import TextLine

LEAST_LINES = 4
"""Columns of fewer lines are cells of a table, or words beside each other."""
PROSE_CHARS = 18
"""Lines of prose have at least so many characters in the median; cells have fewer."""
LEAST_GAP = 0.6
"""Width of the gap between columns, in heights of a line."""
WIDE = 0.6
"""A line that is wider than this share of the text stands above or below columns."""


def in_columns(lines: Sequence[TextLine]) -> list[list[TextLine]]:
    """Split recognised lines into parts that are read one after another.

    A wide line, such as a title, ends the columns above it. Cells of a table stay together.
    """
    left = min((line.box[0] for line in lines), default=0.0)
    width = max((_right(line) for line in lines), default=0.0) - left
    parts: list[list[TextLine]] = [[]]
    band: list[TextLine] = []
    for line in sorted(lines, key=_middle):
        if line.box[2] <= WIDE * width:
            band.append(line)
            continue
        _add(parts, band)
        parts[-1].append(line)
        band = []
    _add(parts, band)
    return [part for part in parts if part]


def _add(parts: list[list[TextLine]], band: Sequence[TextLine]) -> None:
    """Add lines between two wide ones: to the part before, or as columns of their own."""
    columns = _columns(band)
    if len(columns) > 1 and all(_is_prose(column) for column in columns):
        parts += [*columns, []]
    else:
        parts[-1] += band


def _columns(band: Sequence[TextLine]) -> list[list[TextLine]]:
    """Group lines between which no gap goes from the top to the bottom."""
    columns: list[list[TextLine]] = []
    reach = 0.0
    for line in sorted(band, key=lambda it: it.box[0]):
        if not columns or line.box[0] > reach + LEAST_GAP * line.box[3]:
            columns.append([])
        columns[-1].append(line)
        reach = max(reach, _right(line))
    return columns


def _is_prose(column: Sequence[TextLine]) -> bool:
    return len(column) >= LEAST_LINES and median(len(line.text) for line in column) >= PROSE_CHARS


def _middle(line: TextLine) -> float:
    return line.box[1] + line.box[3] / 2


def _right(line: TextLine) -> float:
    return line.box[0] + line.box[2]
