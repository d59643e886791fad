"""How far a reading is from the truth."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Found:
    """Times that were to be found: how many were, how many more were named, and how far off."""

    found: int
    false: int
    worst_s: float


def distance(left: Sequence[object], right: Sequence[object]) -> int:
    """The least number of insertions, deletions and replacements between two (Levenshtein)."""
    row = list(range(len(right) + 1))
    for i, a in enumerate(left, 1):
        before, row[0] = row[0], i
        for j, b in enumerate(right, 1):
            before, row[j] = row[j], min(row[j] + 1, row[j - 1] + 1, before + (a != b))
    return row[-1]


def plain(text: str) -> str:
    """A slide's text without bullet glyphs, `n / m` footers and white space."""
    without_footers = re.sub(r"(?m)^\s*\d+\s*/\s*\d+\s*$", "", text)
    return re.sub(r"[\s•·▪◦●]+", "", without_footers)


def words(text: str) -> list[str]:
    """The words of a text, lower case, without punctuation."""
    return re.findall(r"[a-z0-9']+", text.lower())


def match_times(named: Sequence[float], true: Sequence[float], tolerance_s: float) -> Found:
    """Match each true time with the nearest named one that no other has taken."""
    left = sorted(named)
    gaps = []
    for time in true:
        near = min(left, key=lambda t: abs(t - time), default=None)
        if near is not None and abs(near - time) <= tolerance_s:
            left.remove(near)
            gaps.append(abs(near - time))
    return Found(len(gaps), len(left), max(gaps, default=0.0))
