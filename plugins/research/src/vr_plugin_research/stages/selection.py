"""`keep` and `choose`: which results are worth something, and which are read in full."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from vr_kernel import VrError

from vr_plugin_research.analysts.analyst import Analyst, Judged
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Decision, Found
from vr_plugin_research.evidence.origins import origin_of

UNJUDGED = frozenset({"REPLY_INVALID", "REPLY_CUT_OFF", "SAFETY_BLOCKED"})
"""Errors of an answer that cannot be used; a model that cannot be reached is another matter."""
SAME_ORIGIN = 0.5
"""Factor by which a result of an origin counts less for each one that was chosen before it."""


async def keep(dossier: Dossier, analyst: Analyst, number: int) -> list[Found]:
    """Judge the results of a round, and return those that are kept; given ones always are."""
    fresh = [each for each in dossier.found if each.round == number]
    asked = [each for each in fresh if not each.given]
    judged = await _judged(dossier, analyst, asked)
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


async def _judged(dossier: Dossier, analyst: Analyst, asked: Sequence[Found]) -> dict[int, Judged]:
    """The judgements by result; none where the analyst fails, as then all are kept."""
    if not asked:
        return {}
    try:
        return {each.id: each for each in await analyst.judge(dossier, asked)}
    except VrError as error:
        if error.category not in UNJUDGED:
            raise
        return {}


async def choose(dossier: Dossier, most: int) -> list[Found]:
    """Choose kept results that were not read yet, at most so many.

    Given ones come first; then by relevance, where a second result of one origin counts half: ten
    pages of one host are no ten sources.
    """
    done = {each.found for each in dossier.sources} | {
        int(name) for name in _numbers(dossier) if name.isdigit()
    }
    named = {each.id: _origin(each) for each in dossier.found}
    left = [each for each in dossier.found if each.keep and each.id not in done]
    origins = Counter(named[each.id] for each in dossier.found if each.id in done)
    chosen: list[Found] = []
    while left and len(chosen) < most:
        best = max(left, key=lambda it: (it.given, _worth(it, origins[named[it.id]]), -it.id))
        left.remove(best)
        origins[named[best.id]] += 1
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


def _numbers(dossier: Dossier) -> list[str]:
    """The ids of results that could not be read, or were left out when they were read."""
    left_out = [each.id.removeprefix("read/") for each in dossier.decisions if each.stage == "read"]
    return [*(each.id for each in dossier.failures), *left_out]


def _worth(found: Found, chosen: int) -> float:
    return float(found.relevance * SAME_ORIGIN**chosen)


def _origin(found: Found) -> str:
    return origin_of(found.address, found.details if found.kind == "paper" else None)
