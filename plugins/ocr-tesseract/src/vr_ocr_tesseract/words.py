"""Tesseract's table of words, made into lines."""

from __future__ import annotations

import csv
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean

from vr_kernel import TextLine

_LINE = ("page_num", "block_num", "par_num", "line_num")


@dataclass(frozen=True, slots=True)
class Word:
    """A word as the program found it; the box is left, top, right, bottom in pixels."""

    text: str
    box: tuple[int, int, int, int]
    confidence: float


def parse_table(table: str, minimum_confidence: float) -> list[TextLine]:
    """The lines of a `tsv` output, by their upper edge, without words below the confidence."""
    rows = csv.DictReader(table.split("\n"), delimiter="\t", quoting=csv.QUOTE_NONE)
    lines: dict[tuple[str, ...], list[Word]] = {}
    for row in rows:
        # Pages, blocks and lines are rows too: they have no text, and confidence -1.
        word = Word((row["text"] or "").strip(), _box(row), float(row["conf"]) / 100)
        if word.text and word.confidence >= minimum_confidence:
            lines.setdefault(tuple(row[name] for name in _LINE), []).append(word)
    return sorted(map(_join, lines.values()), key=lambda line: line.box[1])


def _box(row: dict[str, str]) -> tuple[int, int, int, int]:
    left, top = int(row["left"]), int(row["top"])
    return left, top, left + int(row["width"]), top + int(row["height"])


def _join(words: Sequence[Word]) -> TextLine:
    lefts, tops, rights, bottoms = zip(*(word.box for word in words), strict=True)
    left, top = min(lefts), min(tops)
    return TextLine(
        " ".join(word.text for word in words),
        (left, top, max(rights) - left, max(bottoms) - top),
        fmean(word.confidence for word in words),
    )
