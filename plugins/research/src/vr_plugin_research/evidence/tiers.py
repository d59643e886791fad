"""Tiers that the evidence allows: what was claimed, lowered where the quotes do not carry it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass

from vr_kernel import numbers_in

from vr_plugin_research.evidence.likeness import sense_of
from vr_plugin_research.results.claims import FOUND, TIERS, Citation, Claim, Tier
from vr_plugin_research.results.sources import ReportSource

_NAME = re.compile(r"\b[^\W\d_]{1,2}-?\d\w*")
"""A name with a number, such as CO2: a quote may say `it`."""
CEILINGS: Mapping[Tier, float] = {
    "CONFIRMED": 0.99,
    "STRONG INDICATOR": 0.9,
    "INFERENCE": 0.7,
    "SPECULATION": 0.4,
    "UNKNOWN": 0.2,
}
"""The most confidence that a claim of a tier may have."""
YEARS = (1500, 2100)
"""Numbers that may be years, which a source often names once for many sentences."""
INDEPENDENT = 2
"""Origins that a confirmed claim rests on, at least."""


def tier_of(said: str) -> Tier:
    """The tier that a model names, however it spells it; UNKNOWN for none."""
    plain = re.sub(r"[\s_-]+", " ", said).strip().upper()
    return next((tier for tier in TIERS if plain in (tier, tier.split()[0])), "UNKNOWN")


def lower(one: Tier, other: Tier) -> Tier:
    """The lower one of two tiers."""
    return max(one, other, key=TIERS.index)


@dataclass(frozen=True, slots=True)
class Standing:
    """The evidence of a claim that stands: quotes that were found, and their origins."""

    quotes: int
    found: int
    unchecked: int
    origins: int
    voices: int
    against: int
    retracted: bool

    @classmethod
    def of(cls, citations: Sequence[Citation], sources: Collection[ReportSource]) -> Standing:
        """Count the evidence of a claim."""
        by_number = {each.number: each for each in sources}
        carried = [each for each in citations if each.stance == "supports"]
        found = [each for each in carried if each.status in FOUND]
        good = [
            by_number[each.source]
            for each in found
            if each.source in by_number and not by_number[each.source].quality.retracted
        ]
        return cls(
            quotes=len(carried),
            found=len(found),
            unchecked=sum(each.status == "unchecked" for each in carried),
            origins=len({each.origin or each.source for each in good}),
            voices=len({sense_of(each.quote) for each in found}),
            against=sum(c.stance == "contradicts" and c.status in FOUND for c in citations),
            retracted=bool(found) and not good,
        )

    def ceiling(self) -> tuple[Tier, str]:
        """The best tier that this evidence allows, and why it allows no better one."""
        if self.retracted:
            return "SPECULATION", "Its sources were retracted."
        if not self.found:
            return self._unfounded()
        if self.against:
            return "STRONG INDICATOR", "Another source contradicts it."
        if self.origins < INDEPENDENT or self.voices < INDEPENDENT:
            one = "Only one origin says it."
            copied = "Its sources say it in the very same words, as copies do."
            return "STRONG INDICATOR", one if self.origins < INDEPENDENT else copied
        return "CONFIRMED", ""

    def _unfounded(self) -> tuple[Tier, str]:
        if self.against:
            return "SPECULATION", "Sources contradict it, and no quote carries it."
        if self.quotes and not self.unchecked:
            return "SPECULATION", "None of its quotes is in its source."
        return "INFERENCE", "No quote of it could be checked."


def _has_own_number(claim: Claim) -> bool:
    """True when the claim has a number, other than a year, that no quote of it has."""
    said = {number for it in claim.supporting for number in numbers_in(it.quote)}
    return any(
        number not in said and not (number.is_integer() and YEARS[0] <= number <= YEARS[1])
        for number in numbers_in(_NAME.sub(" ", claim.claim))
    )


def held_to(claim: Claim, sources: Collection[ReportSource]) -> Claim:
    """Return a claim with the tier and the confidence that its evidence allows."""
    ceiling, why = Standing.of(claim.citations, sources).ceiling()
    if lower(ceiling, "INFERENCE") == "INFERENCE" and _has_own_number(claim):
        ceiling, why = "INFERENCE", "A number of the claim is in none of its quotes."
    tier = lower(claim.evidence_tier, ceiling)
    notes = list(claim.notes)
    if tier != claim.evidence_tier and why not in notes:
        notes.append(why)
    confidence = round(min(max(claim.confidence, 0.0), CEILINGS[tier]), 2)
    told = {"evidence_tier": tier, "confidence": confidence, "notes": notes}
    return claim.model_copy(update=told)
