"""`keep` and `choose`: which results are worth something, and which are read in full."""

from __future__ import annotations

from collections import Counter

from vr_plugin_research.analysts.analyst import Analyst, Judged
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Decision, Found
from vr_plugin_research.evidence.quality import origin_of

SAME_ORIGIN = 0.5
"""Factor by which a result of an origin counts less for each one that was chosen before it."""


async def keep(dossier: Dossier, analyst: Analyst, number: int) -> list[Found]:
    """Judge the results of a round, and return those that are kept; given ones always are."""
    fresh = [each for each in dossier.found if each.round == number]
    asked = [each for each in fresh if not each.given]
    judged = {each.id: each for each in await analyst.judge(dossier, asked)} if asked else {}
    kept: list[Found] = []
    for each in fresh:
        told = judged.get(each.id, Judged(each.id, True, 1.0 if each.given else 0.5))
        found = each.model_copy(
            update={"keep": told.keep, "relevance": told.relevance, "reason": told.reason}
        )
        decision = Decision(
            id=f"keep/{each.id}",
            stage="keep",
            subject=each.address,
            kept=told.keep,
            reason=told.reason,
        )
        await dossier.put(found, decision)
        if told.keep:
            kept.append(found)
    return kept


async def choose(dossier: Dossier, most: int) -> list[Found]:
    """Choose kept results that were not read yet, at most so many.

    Given ones come first; then by relevance, where a second result of one origin counts half: ten
    pages of one host are no ten sources.
    """
    read = {each.found for each in dossier.sources} | {
        int(each.id) for each in dossier.failures if each.id.isdigit()
    }
    left = [each for each in dossier.found if each.keep and each.id not in read]
    origins = Counter(_origin(each) for each in dossier.found if each.id in read)
    chosen: list[Found] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda each: (each.given, _worth(each, origins), -each.id))
        left.remove(best)
        origins[_origin(best)] += 1
        chosen.append(best)
    for each in chosen:
        decision = Decision(
            id=f"choose/{each.id}",
            stage="choose",
            subject=each.address,
            kept=True,
            reason=each.reason,
        )
        await dossier.put(decision)
    return chosen


def _worth(found: Found, origins: Counter[str]) -> float:
    return found.relevance * SAME_ORIGIN ** origins[_origin(found)]


def _origin(found: Found) -> str:
    return origin_of(found.address, found.details)
