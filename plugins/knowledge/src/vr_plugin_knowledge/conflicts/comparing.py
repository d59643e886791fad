"""Pairs of claims that are alike enough to contradict each other, and those that do."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass

from vr_kernel import ConflictKind, find_conflict

from vr_plugin_knowledge.conflicts.statements import Statement

RAREST = 4
"""Words of a claim by which it meets others: its rarest."""
ODD = RAREST - 1
"""Words that the shorter claim may have alone: a negation, a month, a number in letters."""
ALIKE = 0.5
"""Share of the words of the longer claim that both have, at least."""
MOST_PAIRS = 400_000
"""Pairs whose words are counted."""
MOST_CHARS = 1_000_000
"""Characters of all pairs that are read closely, less than a second's work."""

_COUNTING = frozenset(
    str.split(
        "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
        " fifteen sixteen seventeen eighteen nineteen twenty thirty forty fifty sixty seventy"
        " eighty ninety hundred thousand million billion half twice dozen first second third"
        " fourth fifth sixth seventh eighth ninth tenth eleventh twelfth january february march"
        " april may june july august september october november december per around less than"
        " approximately nearly roughly"
    )
)
"""Numbers, months, and words beside them: claims that differ in these speak of the same."""


@dataclass(frozen=True, slots=True)
class Conflict:
    """Two claims that contradict each other; the first one stands better, or is newer."""

    kind: ConflictKind
    one: Statement
    other: Statement


@dataclass(frozen=True, slots=True)
class Comparison:
    """The contradictions among claims, the best founded first.

    `compared` counts claims, equal ones once; when `cut`, too many are alike to compare all.
    """

    conflicts: Sequence[Conflict]
    compared: int
    cut: bool = False


def compare(statements: Iterable[Statement]) -> Comparison:
    """Find the contradictions among claims, of which the first are compared first; blocks."""
    claims = list(_distinct(statements))
    found, left = [], MOST_CHARS
    pairs = _Pairs(claims)
    for one, other in pairs:
        left -= len(one.compared) + len(other.compared)
        if left < 0:
            break
        if kind := find_conflict(one.compared, other.compared):
            first, second = sorted((one, other), key=lambda it: it.stands.rank, reverse=True)
            found.append(Conflict(kind, first, second))
    found.sort(key=_weight, reverse=True)
    return Comparison(found, len(claims), pairs.cut or left < 0)


def _weight(conflict: Conflict) -> tuple[int, int, str]:
    """Order of contradictions: by both tiers of evidence, then by the newer claim."""
    one, other = conflict.one.stands, conflict.other.stands
    return one.rank[0], other.rank[0], max(one.created_at, other.created_at)


def _distinct(statements: Iterable[Statement]) -> Iterator[Statement]:
    """Equal claims once, where they stand best, in the order of their first appearance.

    Equal words that say of what only together with others are one claim in each source.
    """
    best: dict[tuple[str, Hashable], Statement] = {}
    for each in statements:
        said = each.compared.casefold().rstrip(" .!"), each.stands.about if each.hangs else None
        known = best.get(said)
        if known is None or each.stands.rank > known.stands.rank:
            best[said] = each
    yield from best.values()


class _Pairs:
    """The pairs of which one claim has nearly all words of the other, each once.

    Attributes:
        cut: whether more pairs share words than are looked at.
    """

    def __init__(self, claims: Sequence[Statement]) -> None:
        self.cut = False
        self._claims = claims
        self._holders: Mapping[str, list[int]] = _holders(claims)
        self._left = MOST_PAIRS

    def __iter__(self) -> Iterator[tuple[Statement, Statement]]:
        for place, claim in enumerate(self._claims):
            for near in self._near(place):
                other = self._claims[near]
                if _may_conflict(claim, other):
                    yield claim, other
            if self._left <= 0:
                self.cut = True
                return

    def _near(self, place: int) -> list[int]:
        """The claims that share a rarer word and have as many words; of equals, those after."""
        words = self._claims[place].words
        rarest = sorted(words, key=lambda word: (len(self._holders[word]), word))[:RAREST]
        near: set[int] = set()
        for word in rarest:
            near.update(self._holders[word][: self._left])
        self._left -= len(near)
        own = len(words)
        return sorted(
            each
            for each in near
            if (size := len(self._claims[each].words)) > own or (size == own and each > place)
        )


def _holders(claims: Sequence[Statement]) -> Mapping[str, list[int]]:
    holders: defaultdict[str, list[int]] = defaultdict(list)
    for place, claim in enumerate(claims):
        for word in claim.words:
            holders[word].append(place)
    return holders


def _may_conflict(shorter: Statement, longer: Statement) -> bool:
    """Tell quickly that two claims speak of different things, where they do."""
    own = shorter.words - longer.words
    shared = len(shorter.words) - len(own)
    if len(own) > ODD or shared < ALIKE * len(longer.words):
        return False
    if own - _COUNTING and longer.words - shorter.words - _COUNTING:
        return False
    hangs = shorter.hangs or longer.hangs
    return not hangs or shorter.stands.about == longer.stands.about
