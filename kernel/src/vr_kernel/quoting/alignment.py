"""Differences between the words of a quote and those of a source, each with what it costs."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from vr_kernel.quoting.sounds import (
    FILLERS,
    SMALL,
    are_opposed,
    is_repeated,
    same_stem,
    sounds_as,
)
from vr_kernel.quoting.words import NEGATIONS, is_guarded

MOST_PAIRS = 600
"""Pairs of words that are compared where a quote differs; more than that is no damage."""
ALIKE, NOISY, JOINED = 0.65, 0.5, 0.75
"""Least share of the letters that are the same in a word misread, in one of a few letters, and in
words that were split or joined."""
FILLER_COST, _SMALL_COST, _HEARD_COST, _OTHER_COST = 0.25, 0.5, 0.5, 1.4
"""In words. At 1.4 one word in eight may be another one, and nine in ten are as they were."""
MOST_ADDED = 3
"""So many words in a row that the source has not are no slip."""
_SHORT_WORD = 4
TINY = frozenset(str.split("a an the of to in and so like well right okay you i um uh er"))
_GROUPS = ((1, 1), (1, 2), (2, 1), (1, 3), (3, 1))
_MEANING = 3
"""Letters of a word that says something by itself."""


class Span(NamedTuple):
    """Words from one number to another."""

    words: Sequence[str]
    begin: int
    end: int

    def __len__(self) -> int:
        return self.end - self.begin

    @property
    def own(self) -> Sequence[str]:
        """These words alone."""
        return self.words[self.begin : self.end]


@dataclass(slots=True)
class Damage:
    """Differences: their cost in words, and the words for which nothing accounts."""

    cost: float = 0.0
    unlike: float = 0.0
    lost: set[str] = field(default_factory=set)
    """Words of the quote only."""
    spare: set[str] = field(default_factory=set)
    """Words of the source only."""
    forged: bool = False
    """A difference that no reader and no listener makes."""


@dataclass(frozen=True, slots=True)
class _Step:
    cost: float
    mine: int
    theirs: int
    explained: bool


class Differences:
    """Compares words of a quote with words of a source.

    Args:
        known: all words of the source, any of which may have been put in the place of another.
        distance: the share of letters that differ between two words.
    """

    def __init__(self, known: Collection[str], distance: Callable[[str, str], float]) -> None:
        self._known, self._distance = known, distance

    def compare(self, mine: Span, theirs: Span, names: Callable[[int], bool]) -> Damage:
        """Account for words of the quote that stand at a place with other words.

        Args:
            mine: the words of the quote.
            theirs: those of the source.
            names: tells if the source's word of that number is a name.
        """
        if len(mine) * len(theirs) > MOST_PAIRS:
            cost = float(max(len(mine), len(theirs)))
            return Damage(cost, cost, set(mine.own), set(theirs.own), forged=True)
        damage, at, other, added = Damage(), mine.begin, theirs.begin, 0
        stammered = set[bool]()
        for step in self._steps(mine, theirs):
            said = mine.words[at : at + step.mine]
            stood = theirs.words[other : other + step.theirs]
            damage.cost += step.cost
            added = 0 if stood or step.cost == FILLER_COST else added + 1
            damage.forged |= added >= MOST_ADDED
            if not step.explained:
                self._blame(damage, step.cost, said, stood)
                damage.forged |= bool(stood) and len(mine) > 0 and names(other)
            elif said and stood:
                if SMALL.issuperset([*said, *stood]) and said != stood:
                    damage.lost.update({*said} - TINY)
                    damage.spare.update({*stood} - TINY)
                damage.forged |= "".join(said) != "".join(stood) and self._is_forged(said, stood)
            elif step.cost != FILLER_COST:
                damage.lost.update({*said} - TINY)
                damage.spare.update({*stood} - TINY)
            elif FILLERS.isdisjoint([*said, *stood]):
                stammered.add(bool(said))
            at, other = at + step.mine, other + step.theirs
        if len(stammered) > 1:  # each side repeats what the other has not
            damage.cost += _OTHER_COST
            damage.unlike += _OTHER_COST
        # A lone number is a note in the text; one that is left out with its word was said.
        guarded = any(map(is_guarded, damage.spare))
        damage.forged |= guarded and (len(damage.spare) > 1 or any(map(is_guarded, mine.own)))
        damage.forged |= True in stammered and any(map(is_meaningful, damage.spare))
        return damage

    def _blame(
        self, damage: Damage, cost: float, said: Sequence[str], stood: Sequence[str]
    ) -> None:
        damage.unlike += cost
        damage.lost.update(said)
        damage.spare.update(stood)
        damage.forged |= (
            any(map(is_guarded, said))
            or not NEGATIONS.isdisjoint(stood)
            or any(word[0].isdigit() and word[-1].isalpha() for word in stood)
            or (bool(said) and any(map(is_guarded, stood)))
            or any(is_meaningful(word) and word in self._known for word in said)
            or (bool(said and stood) and are_opposed(said[0], stood[0]))
        )

    def _is_forged(self, said: Sequence[str], stood: Sequence[str]) -> bool:
        """True for words that are alike and must not be exchanged."""
        if len(said) == len(stood) == 1:
            one, other = said[0], stood[0]
            if sounds_as(one, other):
                return not NEGATIONS.isdisjoint((one, other))
            return is_guarded(one) or is_guarded(other) or are_opposed(one, other)
        return any(map(is_guarded, [*said, *stood]))

    def _steps(self, mine: Span, theirs: Span) -> list[_Step]:
        """The cheapest way from one to the other, from the beginning."""
        best = {(mine.begin, theirs.begin): (0.0, _Step(0.0, 0, 0, explained=True))}
        for at in range(mine.begin, mine.end + 1):
            for other in range(theirs.begin, theirs.end + 1):
                ways = [
                    (best[at - step.mine, other - step.theirs][0] + step.cost, step)
                    for step in self._ways(mine, theirs, at, other)
                ]
                if ways:
                    best[at, other] = min(ways, key=lambda way: (way[0], not way[1].explained))
        steps, at, other = list[_Step](), mine.end, theirs.end
        while (at, other) != (mine.begin, theirs.begin):
            steps.append(step := best[at, other][1])
            at, other = at - step.mine, other - step.theirs
        return steps[::-1]

    def _ways(self, mine: Span, theirs: Span, at: int, other: int) -> list[_Step]:
        """The steps that may lead to a place."""
        ways = []
        if at > mine.begin:
            ways.append(_left_out(mine.words, at - 1, 1, 0))
        if other > theirs.begin:
            ways.append(_left_out(theirs.words, other - 1, 0, 1))
        for one, two in _GROUPS:
            if one <= at - mine.begin and two <= other - theirs.begin:
                said, stood = mine.words[at - one : at], theirs.words[other - two : other]
                cost = self.cost(said, stood)
                if cost is not None:
                    ways.append(_Step(cost, one, two, explained=True))
                elif one == two == 1:
                    ways.append(_exchanged(said[0], stood[0]))
        return ways

    def cost(self, said: Sequence[str], stood: Sequence[str]) -> float | None:
        """The cost of words that were misheard or misread for others; None for other words."""
        one, other = "".join(said), "".join(stood)
        if one == other:
            joined = len(said) != len(stood) and any(map(is_guarded, [said[0], stood[0]]))
            return None if joined and one[0].isdigit() else 0.0
        distance = self._distance(one, other)
        if is_guarded(said[0]) or is_guarded(stood[0]):
            heard = len(said) == len(stood) == 1 and sounds_as(one, other)
            return _HEARD_COST if heard else None
        if same_stem(one, other) or sounds_as(one, other):
            return min(distance, _HEARD_COST)
        if len(said) == len(stood) == 1 and one in self._known and is_meaningful(one):
            near = distance * max(len(one), len(other)) <= 1 and len(one) >= _SHORT_WORD
            return distance if near else None
        least = NOISY if max(len(one), len(other)) <= _SHORT_WORD else ALIKE
        if not len(said) == len(stood) == 1:
            least = JOINED
        return distance if 1 - distance >= least else None


def is_meaningful(word: str) -> bool:
    """True for a word whose presence says something: no small word, and no filler."""
    return len(word) >= _MEANING and word not in SMALL and word not in FILLERS


def _exchanged(said: str, stood: str) -> _Step:
    """A step from a word to another one that is not like it."""
    if said in SMALL and stood in SMALL and not are_opposed(said, stood):
        return _Step(_SMALL_COST, 1, 1, explained=True)
    return _Step(_OTHER_COST, 1, 1, explained=False)


def _left_out(words: Sequence[str], at: int, mine: int, theirs: int) -> _Step:
    """A step over a word that the other side has not."""
    word = words[at]
    if word in FILLERS or (is_repeated(words, at) and not is_guarded(word)):
        return _Step(FILLER_COST, mine, theirs, explained=True)
    if word in SMALL:
        return _Step(_SMALL_COST, mine, theirs, explained=True)
    return _Step(1.0, mine, theirs, explained=False)
