"""Recognised lines in the order in which people read them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from vr_kernel import TextLine

LEAST_CONFIDENCE = 0.4
SAME_ROW = 0.5
"""Boxes whose centres differ by less than this share of their height stand in one row."""
WORD_GAP = 1.5
"""A gap wider than this many line heights separates columns, not words."""


def in_order(lines: Sequence[TextLine]) -> list[TextLine]:
    """Join boxes of one row, and sort rows from top to bottom; a wide gap stays as spaces."""
    rows: list[list[TextLine]] = []
    sure = [it for it in lines if it.confidence >= LEAST_CONFIDENCE and it.text.strip()]
    for line in sorted(sure, key=_middle):
        if rows and _same_row(rows[-1][0], line):
            rows[-1].append(line)
        else:
            rows.append([line])
    return [_joined(sorted(row, key=lambda it: it.box[0])) for row in rows]


def _middle(line: TextLine) -> float:
    return line.box[1] + line.box[3] / 2


def _same_row(one: TextLine, other: TextLine) -> bool:
    return abs(_middle(one) - _middle(other)) < SAME_ROW * min(one.box[3], other.box[3])


def _joined(row: Sequence[TextLine]) -> TextLine:
    whole = row[0]
    for line in row[1:]:
        (left, top, width, height), (start, upper, wide, high) = whole.box, line.box
        gap = start - (left + width)
        between = "   " if gap > WORD_GAP * height else " "
        box = (
            left,
            min(top, upper),
            max(left + width, start + wide) - left,
            max(top + height, upper + high) - min(top, upper),
        )
        confidence = min(whole.confidence, line.confidence)
        whole = replace(
            whole, text=f"{whole.text}{between}{line.text}", box=box, confidence=confidence
        )
    return replace(whole, text=whole.text.strip())
