"""Coverage: which questions are answered, which are open, and when reading more is of no use."""

from __future__ import annotations

from collections.abc import Sequence

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding
from vr_plugin_research.evidence.likeness import likeness
from vr_plugin_research.results.claims import FOUND, TIERS, Claim
from vr_plugin_research.results.report import Coverage

ENOUGH = 2
"""Origins from which a question counts as answered between rounds."""
KNOWN = 0.75
"""Likeness from which a finding is nothing new."""
ESTABLISHED = frozenset({"CONFIRMED", "STRONG INDICATOR"})
SURE = 0.5
"""Confidence of a claim from which it establishes something."""


def open_questions(dossier: Dossier) -> list[int]:
    """The numbers of the questions that fewer than two origins answer, from 0."""
    sources = {each.id: each.source for each in dossier.sources}
    origins: dict[int, set[str]] = {at: set() for at in range(len(dossier.questions))}
    for finding in dossier.findings:
        if finding.citation.status in FOUND and finding.question in origins:
            origins[finding.question].add(sources[finding.source].origin)
    return [at for at, known in origins.items() if len(known) < ENOUGH]


def novelty(earlier: Sequence[Finding], fresh: Sequence[Finding]) -> float:
    """The part of the fresh findings that say something new, 0 to 1; blocks."""
    good = [each for each in fresh if each.citation.status in FOUND]
    if not good:
        return 0.0
    known = [each.claim for each in earlier]
    new = sum(all(likeness(each.claim, other) < KNOWN for other in known) for each in good)
    return round(new / len(good), 3)


def coverage_of(dossier: Dossier, claims: Sequence[Claim]) -> list[Coverage]:
    """Tell how well each question is answered by the claims of a report."""
    rows = []
    for each in dossier.questions:
        own = [claim for claim in claims if claim.section == each.question]
        found = {c.source for it in own for c in it.supporting if c.status in FOUND}
        best = min((it.evidence_tier for it in own), key=TIERS.index, default="UNKNOWN")
        rows.append(
            Coverage(
                question=each.question,
                claims=len(own),
                sources=len(found),
                best_tier=best,
                established=any(map(_establishes, own)),
            )
        )
    return rows


def _establishes(claim: Claim) -> bool:
    """True for a claim that stands well, on a quote that stands."""
    stands = any(each.status in FOUND for each in claim.supporting)
    return stands and claim.evidence_tier in ESTABLISHED and claim.confidence >= SURE
