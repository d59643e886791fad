"""Distance of a reading from the truth."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import log2


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


def ndcg(ranked: Sequence[str], relevant: Mapping[str, float], depth: int = 10) -> float:
    """Normalised discounted cumulative gain of the best `depth`, from 0 to 1.

    As in K. Järvelin, J. Kekäläinen, "Cumulated gain-based evaluation of IR techniques", ACM
    TOIS 20(4), 2002, with the grade itself as gain, as trec_eval has it.
    """
    gained = sum(
        relevant.get(key, 0.0) / log2(place + 1)
        for place, key in enumerate(ranked[:depth], start=1)
    )
    best = sorted(relevant.values(), reverse=True)[:depth]
    possible = sum(grade / log2(place + 1) for place, grade in enumerate(best, start=1))
    return gained / possible if possible else 0.0


def mean_ndcg(
    ranked: Mapping[str, Sequence[str]], judged: Mapping[str, Mapping[str, float]]
) -> float:
    """The mean over all questions that have a relevant text; one without answer counts 0."""
    asked = [key for key, relevant in judged.items() if any(g > 0 for g in relevant.values())]
    return sum(ndcg(ranked.get(key, ()), judged[key]) for key in asked) / len(asked)
