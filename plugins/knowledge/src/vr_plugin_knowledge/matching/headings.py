"""Passages whose own heading is what a question names, before others that mention it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from typing import Any

from vr_kernel import RecordKind

WEIGHT = 1.0
"""Share of its score that a passage gains whose heading is all that the question names."""
FURTHER_ON = 0.3
"""The share of that which is left further on in the section than where the heading stands."""
CANDIDATES = 50
"""Best hits of which one may come first by its heading."""
SIGN = " > "
SAME_LETTERS = 4
"""Letters that a word and its plural, or another form of it, share at least."""
MOST_ENDING = 2
"""Letters by which one of them may be longer."""
HEAD_CHARS = 40
"""Most characters before a heading, such as its number, or what stands on top of the page."""
_WORD = re.compile(r"\w+")


def raised(kind: RecordKind, fields: Mapping[str, Any], weights: Mapping[str, float]) -> float:
    """Return by what to multiply the score of a record, 1 or more.

    It is 1 and the harmonic mean of two shares: of the last heading above the passage, how much the
    question names, and of the question, how much the heading names. Words weigh by their rarity; a
    word of the heading that is not asked for weighs as the rarest of the question.

    Args:
        kind: of the record.
        fields: of the record.
        weights: inverse document frequencies of the question's words.
    """
    heading = fields.get(kind.headings) if kind.headings else None
    words = _words(heading) if isinstance(heading, str) else set()
    if not words or not weights:
        return 1.0
    whole = sum(weights.values())
    found = [max((w for t, w in weights.items() if _same(word, t)), default=None) for word in words]
    named = sum(weight for weight in found if weight is not None)
    if not named or not whole:
        return 1.0
    rarest = max(weights.values())
    there = named / sum(rarest if weight is None else weight for weight in found)
    asked = sum(w for term, w in weights.items() if any(_same(word, term) for word in words))
    weight = WEIGHT if _begins(kind, fields) else WEIGHT * FURTHER_ON
    return 1 + weight * 2 * there * (asked / whole) / (there + asked / whole)


def _begins(kind: RecordKind, fields: Mapping[str, Any]) -> bool:
    """True for the passage that holds the heading itself."""
    text = " ".join(str(fields.get(kind.rerank) or "").casefold().split())
    heading = " ".join(str(fields.get(kind.headings or "")).rpartition(SIGN)[2].casefold().split())
    return heading in text[: len(heading) + HEAD_CHARS]


def _words(heading: str) -> Collection[str]:
    return {word.casefold() for word in _WORD.findall(heading.rpartition(SIGN)[2])}


def _same(one: str, other: str) -> bool:
    """True for equal words, and for forms of one word, such as its plural."""
    shorter, longer = sorted((one, other.casefold()), key=len)
    if shorter == longer:
        return True
    near = len(longer) <= len(shorter) + MOST_ENDING
    return near and len(shorter) >= SAME_LETTERS and longer.startswith(shorter)
