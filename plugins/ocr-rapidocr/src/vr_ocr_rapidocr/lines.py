"""Sorts lines into reading order."""

from __future__ import annotations

from collections.abc import Iterable

from vr_kernel import TextLine


def sort_lines(lines: Iterable[TextLine]) -> list[TextLine]:
    """Rows from top to bottom, and the lines of a row from left to right.

    Two lines share a row when their middles are nearer than half the height of the lower one.
    """
    rows: list[list[TextLine]] = []
    for line in sorted(lines, key=_middle):
        if rows and _share_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [line for row in rows for line in sorted(row, key=lambda line: line.box[0])]


def _middle(line: TextLine) -> float:
    return line.box[1] + line.box[3] / 2


def _share_row(first: TextLine, second: TextLine) -> bool:
    return abs(_middle(first) - _middle(second)) < min(first.box[3], second.box[3]) / 2
