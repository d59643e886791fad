"""Columns of a page: each is read to its end before the next one, as people do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from vr_kernel import TextLine

LEAST_LINES = 4
"""Columns of fewer lines are cells of a table, or words beside each other."""
PROSE_CHARS = 18
"""Lines of prose have at least so many characters in the median; cells have fewer."""
LEAST_GAP = 0.6
"""Width of the gap between columns, in heights of a line."""
WIDE = 0.6
"""A line that is wider than this share of the text stands above or below columns."""


def in_columns(lines: Sequence[TextLine]) -> Iterator[list[TextLine]]:
    """Split recognised lines into parts that are read one after another, from top to bottom.

    A wide line, such as a title, ends the columns above it.
    """
    if not lines:
        return
    width = _right(lines) - min(line.box[0] for line in lines)
    wide = [line for line in lines if line.box[2] > WIDE * width]
    rest = [line for line in lines if line.box[2] <= WIDE * width]
    edges = sorted(_middle(line) for line in wide)
    band: list[TextLine] = []
    for line in sorted(lines, key=_middle):
        if line in wide:
            yield from _columns(band)
            yield [line]
            band = []
        else:
            band.append(line)
    yield from _columns(band)
