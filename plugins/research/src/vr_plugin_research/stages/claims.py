"""Claims put together from findings: every quote has its claim, and no claim stands without one."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from vr_kernel import visible, visible_line

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding
from vr_plugin_research.evidence.likeness import sense_of
from vr_plugin_research.evidence.tiers import held_to, tier_of
from vr_plugin_research.instructions.synthesis import Synthesis, WrittenClaim
from vr_plugin_research.results.claims import (
    FOUND,
    TIERS,
    Citation,
    Claim,
    ConflictKind,
    Contradiction,
)
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.stages.contradictions import EXPLAINED, conflicts_among

MOST_PAIRS = 200


class _Draft:
    """A claim that is being put together, and the findings that it rests on."""

    def __init__(self, claim: Claim, supports: list[Finding], contradicts: list[Finding]) -> None:
        self.claim = claim
        self.supports = supports
        self.contradicts = contradicts

    def oppose(self, finding: Finding) -> None:
        """Add a finding against it, unless it is there."""
        if finding not in self.contradicts:
            self.contradicts.append(finding)

    @property
    def citations(self) -> list[Citation]:
        """Its quotes, each once."""
        told = [each.citation for each in self.supports]
        told += [
            each.citation.model_copy(update={"stance": "contradicts"}) for each in self.contradicts
        ]
        unique = {(it.source, it.quote.casefold(), it.stance): it for it in told}
        return [*unique.values()]


async def put_together(
    dossier: Dossier, written: Synthesis, sources: Sequence[ReportSource]
) -> tuple[list[Claim], list[Contradiction]]:
    """Return the claims of a synthesis with their checked quotes, and the contradictions.

    A finding that the synthesis left out joins the claim that says the same, or becomes one.
    """
    return await asyncio.to_thread(_put_together, dossier, written, sources)


def _put_together(
    dossier: Dossier, written: Synthesis, sources: Sequence[ReportSource]
) -> tuple[list[Claim], list[Contradiction]]:
    known = {each.id: each for each in dossier.findings}
    questions = [each.question for each in dossier.questions]
    drafts = [
        draft for each in written.claims if (draft := _draft(each, known, questions)) is not None
    ]
    drafts = [part for draft in drafts for part in _parted(draft)]
    _join_left_out(drafts, dossier.findings, questions)
    opposed = _opposed(written, drafts, known)
    numbered = _numbered(drafts, sources)
    pairs = [
        Contradiction(
            claim_a=each.one.claim.id,
            claim_b=each.other.claim.id,
            kind=each.kind,
            explanation=each.explanation,
        )
        for each in opposed
    ]
    return [draft.claim for draft in numbered], pairs


@dataclass(frozen=True, slots=True)
class _Opposed:
    """Two claims that cannot both hold."""

    one: _Draft
    other: _Draft
    kind: ConflictKind
    explanation: str


def _opposed(
    written: Synthesis, drafts: Sequence[_Draft], known: Mapping[str, Finding]
) -> list[_Opposed]:
    """The pairs of claims that cannot both hold, each once; each gets the other's quote."""
    homes = {each.id: draft for draft in reversed(drafts) for each in draft.supports}
    told = [(it.a, it.b, it.kind, visible(it.explanation)[:600]) for it in written.contradictions]
    told += [
        (one.id, other.id, kind, EXPLAINED[kind])
        for one, other, kind in conflicts_among(_standing(known.values()))
    ]
    pairs: dict[frozenset[int], _Opposed] = {}
    for a, b, kind, explanation in told:
        one, other = homes.get(a), homes.get(b)
        if one is None or other is None or one is other or len(pairs) == MOST_PAIRS:
            continue
        if (pair := frozenset((id(one), id(other)))) not in pairs:
            pairs[pair] = _Opposed(one, other, kind, explanation)
            one.oppose(known[b])
            other.oppose(known[a])
    return [*pairs.values()]


def _draft(
    written: WrittenClaim, known: dict[str, Finding], questions: Sequence[str]
) -> _Draft | None:
    """A claim as it was written; None for one that names no finding that there is."""
    supports = [known[each] for each in dict.fromkeys(written.supports) if each in known]
    against = [known[each] for each in dict.fromkeys(written.contradicts) if each in known]
    against = [each for each in against if each not in supports]
    text = visible_line(written.claim, 600)
    if not text or not (supports or against):
        return None
    at = written.question - 1
    claim = Claim(
        id="",
        claim=text,
        evidence_tier=tier_of(written.tier),
        confidence=min(max(written.confidence, 0.0), 1.0),
        reasoning=visible(written.reasoning)[:1_000].strip(),
        section=questions[at] if 0 <= at < len(questions) else "",
    )
    return _Draft(claim, supports, against)


def _parted(draft: _Draft) -> list[_Draft]:
    """A claim without the findings that contradict its first one; each becomes its own claim.

    Two numbers for one thing are never averaged into one claim.
    """
    parted: list[_Draft] = [draft]
    for one, other, _ in [*conflicts_among(draft.supports)]:
        if one in draft.supports and other in draft.supports:
            draft.supports.remove(other)
            parted.append(_alone(other, draft.claim.section))
    return parted


def _join_left_out(
    drafts: list[_Draft], findings: Sequence[Finding], questions: Sequence[str]
) -> None:
    used = {each.id for draft in drafts for each in (*draft.supports, *draft.contradicts)}
    homes = {sense_of(draft.claim.claim): draft for draft in reversed(drafts)}
    for finding in findings:
        if finding.id in used:
            continue
        sense = sense_of(finding.claim)
        if sense in homes:
            homes[sense].supports.append(finding)
            continue
        at = finding.question
        section = questions[at] if 0 <= at < len(questions) else ""
        homes[sense] = _alone(finding, section)
        drafts.append(homes[sense])


def _alone(finding: Finding, section: str) -> _Draft:
    """A finding as a claim of its own."""
    claim = Claim(
        id="",
        claim=finding.claim,
        evidence_tier=finding.tier,
        confidence=finding.confidence,
        reasoning=finding.reasoning,
        section=section,
    )
    return _Draft(claim, [finding], [])


def _numbered(drafts: Sequence[_Draft], sources: Sequence[ReportSource]) -> list[_Draft]:
    """Claims held to their evidence, the best first, with ids."""
    for draft in drafts:
        claim = draft.claim.model_copy(update={"citations": draft.citations})
        draft.claim = held_to(claim, sources)
    ordered = sorted(
        drafts, key=lambda it: (TIERS.index(it.claim.evidence_tier), -it.claim.confidence)
    )
    for number, draft in enumerate(ordered, 1):
        draft.claim = draft.claim.model_copy(update={"id": f"C{number}"})
    return ordered


def _standing(findings: Iterable[Finding]) -> list[Finding]:
    """Findings whose quote stands: an invented one contradicts nothing."""
    return [each for each in findings if each.citation.status in FOUND]
