"""The text on one picture of a slide: in reading order, with its title, without footers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from unicodedata import east_asian_width

from vr_kernel import TextLine

from vr_plugin_video.text.plain_text import clean

LEAST_CONFIDENCE = 0.5
SAME_ROW = 0.5
"""Boxes whose centres differ by less than this share of their height stand in one row."""
WORD_GAP = 1.5
"""A gap wider than this many line heights separates columns, not words."""
FOOTER_FROM = 0.8
"""Share of the picture's height below which page numbers stand."""
TITLE_WITHIN = 0.5
"""Share of the picture's height in which a title stands."""
TITLE_HEIGHT = 1.15
"""A title is at least this much taller than the median line."""
_PAGE_OF = re.compile(r"\d{1,4}\s*/\s*\d{1,4}")
_PAGE = re.compile(r"\d{1,4}")
_BULLET = re.compile(r"^(?:[•·▪◦‣●○■□➢➤►▸]\s*|[*\-–—]\s+)(?=\S)")  # noqa: RUF001 - glyphs of slides


@dataclass(frozen=True, slots=True)
class ScreenText:
    """The text on a picture; `lines` are all but the title, top to bottom."""

    title: str = ""
    lines: tuple[str, ...] = ()

    @property
    def text(self) -> str:
        """Title and lines, one a row."""
        return "\n".join(part for part in (self.title, *self.lines) if part)


@dataclass(frozen=True, slots=True)
class _Row:
    text: str
    left: float
    top: float
    width: float
    height: float

    @property
    def middle(self) -> float:
        return self.top + self.height / 2


def arrange(found: Sequence[TextLine], height: float) -> ScreenText:
    """The recognised lines of a picture of that height in pixels, put in order."""
    rows = [row for row in _rows(found) if not _is_footer(row, height)]
    title = _title(rows, height)
    lines = tuple(_BULLET.sub("", row.text) for row in rows if row is not title)
    return ScreenText(title.text if title else "", lines)


def _rows(found: Sequence[TextLine]) -> list[_Row]:
    """Boxes joined into rows, from top to bottom, and within a row from left to right."""
    boxes = [
        _Row(" ".join(clean(line.text).split()), *line.box)
        for line in found
        if line.confidence >= LEAST_CONFIDENCE and not _is_speck(clean(line.text))
    ]
    rows: list[list[_Row]] = []
    for box in sorted(boxes, key=lambda box: box.middle):
        if rows and _same_row(rows[-1][0], box):
            rows[-1].append(box)
        else:
            rows.append([box])
    return [joined for row in rows for joined in _joined(row)]


def _is_speck(text: str) -> bool:
    """True for no text or a single character, such as a misread cursor, but not an ideograph."""
    return len(text) <= 1 and not (text.isalpha() and east_asian_width(text) == "W")


def _same_row(one: _Row, other: _Row) -> bool:
    return abs(one.middle - other.middle) < SAME_ROW * min(one.height, other.height)


def _joined(row: list[_Row]) -> list[_Row]:
    joined: list[_Row] = []
    for box in sorted(row, key=lambda box: box.left):
        last = joined[-1] if joined else None
        if last is None or box.left - (last.left + last.width) > WORD_GAP * box.height:
            joined.append(box)
            continue
        top, width = min(last.top, box.top), box.left + box.width - last.left
        height = max(last.height, box.height)
        joined[-1] = _Row(f"{last.text} {box.text}", last.left, top, width, height)
    return joined


def _is_footer(row: _Row, height: float) -> bool:
    text = row.text.strip()
    low = row.top > FOOTER_FROM * height
    return low and bool(_PAGE_OF.fullmatch(text) or _PAGE.fullmatch(text))


def _title(rows: list[_Row], height: float) -> _Row | None:
    """The tallest row of the upper half when it stands out, else the first row."""
    upper = [row for row in rows if row.top < TITLE_WITHIN * height]
    if not upper:
        return None
    heights = sorted(row.height for row in rows)
    tallest = max(upper, key=lambda row: row.height)
    stands_out = tallest.height >= TITLE_HEIGHT * heights[len(heights) // 2]
    return tallest if stands_out else upper[0]
