"""Passages whose own heading is what a question asks about, before others that mention it."""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from math import log

from vr_kernel import Call, Hit, Query

from vr_plugin_knowledge.matching.terms import split_terms

WEIGHT = 1.0
"""Share of its score that a passage gains whose heading is all that the question names."""
CANDIDATES = 50
"""Hits of each collection of which one may come first by its heading."""
SIGN = " > "
SAME_LETTERS = 4
"""Letters that a word and its plural, or another form of it, share at least."""
MOST_ENDING = 2
"""Letters by which one of them may be longer."""
_WORD = re.compile(r"\w+")


def candidates(call: Call, query: Query) -> int:
    """Return how many hits of each collection to ask a store for, before they are ordered."""
    headed = any(call.services.kinds[kind].headings for kind in query.kinds)
    return max(query.limit, CANDIDATES) if headed else query.limit


def by_heading(call: Call, question: str, hits: Sequence[Hit]) -> list[Hit]:
    """Order hits by their scores, raised for those whose heading the question names."""
    terms = {term.casefold() for term in split_terms(question)}
    headed = {id(hit): words for hit in hits if (words := _words_above(call, hit))}
    if not terms or not headed:
        return list(hits)
    rarity = _rarity(call, terms, hits)
    raised = [
        replace(hit, score=hit.score * (1 + WEIGHT * _named(headed[id(hit)], rarity)))
        if id(hit) in headed
        else hit
        for hit in hits
    ]
    return sorted(raised, key=lambda hit: -hit.score)


def _words_above(call: Call, hit: Hit) -> set[str]:
    """The words of the heading that stands above a passage; none without one."""
    field = call.services.kinds[hit.record.kind].headings
    heading = hit.record.fields.get(field) if field else None
    if not isinstance(heading, str):
        return set()
    return {word.casefold() for word in _WORD.findall(heading.rpartition(SIGN)[2])}


def _rarity(call: Call, terms: Collection[str], hits: Sequence[Hit]) -> dict[str, float]:
    """Return the weight of each term: the fewer of these hits have it, the more it tells."""
    texts = [call.services.kinds[it.record.kind].search_text(it.record.fields) for it in hits]
    folded = [text.casefold() for text in texts]
    holders = {term: sum(term in text for text in folded) for term in terms}
    return {term: log((len(hits) + 1) / (count + 0.5)) for term, count in holders.items()}


def _named(words: Collection[str], rarity: Mapping[str, float]) -> float:
    """Return how well a heading and a question agree, by their telling words.

    It is the harmonic mean of the share of the heading that is asked for, and of the question that
    the heading names; a word of the heading that is not asked for weighs as the rarest of those.
    """
    rarest = max(rarity.values())
    weights = [
        max((w for t, w in rarity.items() if _same(word, t)), default=None) for word in words
    ]
    found = sum(weight for weight in weights if weight is not None)
    there = found / sum(rarest if weight is None else weight for weight in weights)
    asked = sum(w for term, w in rarity.items() if any(_same(word, term) for word in words))
    whole = sum(rarity.values())
    share = asked / whole if whole else 0.0
    return 2 * there * share / (there + share) if there + share else 0.0


def _same(one: str, other: str) -> bool:
    """True for equal words, and for forms of one word, such as its plural."""
    if one == other:
        return True
    shorter, longer = sorted((one, other), key=len)
    most = len(shorter) + MOST_ENDING
    return len(shorter) >= SAME_LETTERS and longer.startswith(shorter) and len(longer) <= most
