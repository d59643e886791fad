"""Contradictions between findings: those that an analyst names, and those that words show."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Sequence

from vr_kernel import ConflictKind, find_conflict

from vr_plugin_research.dossier.entries import Finding
from vr_plugin_research.evidence.likeness import words_of

COMMON = 0.5
"""A word of more than this part of the findings brings no pair together."""
MOST_PAIRS = 20_000
EXPLAINED = {
    "number": "They give different numbers for the same.",
    "date": "They give different dates for the same.",
    "scope": "One denies what the other says.",
}


def conflicts_among(findings: Sequence[Finding]) -> Iterator[tuple[Finding, Finding, ConflictKind]]:
    """The pairs of findings that contradict each other by their words; blocks."""
    for one, other in _pairs(findings):
        quotes = one.citation.quote, other.citation.quote
        kind = find_conflict(one.claim, other.claim) or find_conflict(*quotes)
        if kind is not None:
            yield one, other, kind


def _pairs(findings: Sequence[Finding]) -> Iterator[tuple[Finding, Finding]]:
    """The pairs that share a rarer word, each once, in order."""
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for at, finding in enumerate(findings):
        for word in words_of(finding.claim):
            holders[word].append(at)
    most = max(8.0, COMMON * len(findings))
    pairs: set[tuple[int, int]] = set()
    for places in sorted(holders.values(), key=len):
        if len(places) > most or len(pairs) > MOST_PAIRS:
            break
        pairs.update((one, other) for one in places for other in places if one < other)
    for one, other in sorted(pairs):
        yield findings[one], findings[other]
