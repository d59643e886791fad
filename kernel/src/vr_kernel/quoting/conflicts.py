"""Claims that contradict each other in a number, a date or a negation, found without a model."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Literal

from vr_kernel.quoting.words import NEGATIONS, Fold, read_words

ConflictKind = Literal["number", "date", "scope"]
ALIKE = 0.6
"""Share of the words of two claims that are the same, from which they speak of one thing.

Chosen on pairs of sentences of one abstract, which seldom contradict each other (cacm, cisi,
cranfield), and on pairs in which one number was changed; see `benchmarks/quotes.py`."""
DENIED = 0.8
"""The share from which a negation alone makes a contradiction."""
LEAST_SHARED = 3
"""Words that two claims share, at least."""
ROUNDED = 0.01
"""Part by which two numbers may differ that are the same when rounded."""
_YEARS = (1500, 2100)
_MONTHS = frozenset(
    str.split(
        "january february march april may june july august september october november december"
    )
)
_SMALL = frozenset(
    str.split(
        "a an and are as at be by for from had has have in into is it its of on or over per that"
        " the their this to was were which with about around approximately nearly roughly some"
        " only just than more less did does do"
    )
)


@dataclass(frozen=True, slots=True)
class _Read:
    """A claim in its parts."""

    words: frozenset[str]
    numbers: tuple[float, ...]
    months: frozenset[str]
    denied: bool


def find_conflict(one: str, other: str) -> ConflictKind | None:
    """Tell how two claims contradict each other; None where they do not, as far as words tell.

    `number`: they say the same of other numbers. `date`: of other years or months. `scope`: one
    denies what the other says. Two claims are only compared when one has all words of the other,
    and not many more: where each has a word of its own, they may speak of different things, and a
    reader has to compare them.
    """
    left, right = _read(one), _read(other)
    shared = left.words & right.words
    union = left.words | right.words
    apart = left.words - right.words and right.words - left.words
    if apart or len(shared) < LEAST_SHARED or len(shared) / len(union) < ALIKE:
        return None
    return _by_numbers(left, right) or _by_negation(left, right, len(shared) / len(union))


def _by_numbers(left: _Read, right: _Read) -> ConflictKind | None:
    lone, lonely = _unmatched(left.numbers, right.numbers), _unmatched(right.numbers, left.numbers)
    if lone and lonely:
        years = [any(map(_is_year, each)) for each in (lone, lonely)]
        if all(map(_is_year, (*lone, *lonely))):
            return "date"
        return None if all(years) else "number"  # of two years, two numbers may both be right
    if left.months and right.months and left.months.isdisjoint(right.months):
        return "date"
    return None


def _by_negation(left: _Read, right: _Read, alike: float) -> ConflictKind | None:
    return "scope" if left.denied != right.denied and alike >= DENIED else None


def _unmatched(some: Sequence[float], others: Sequence[float]) -> list[float]:
    """The numbers that have no equal among others, each of which stands for one."""
    left = list(others)
    lone: list[float] = []
    for number in some:
        same = next((each for each in left if _is_same(number, each)), None)
        if same is None:
            lone.append(number)
        else:
            left.remove(same)
    return lone


def _is_same(one: float, other: float) -> bool:
    if _is_year(one) and _is_year(other):
        return one == other
    return abs(one - other) <= ROUNDED * max(abs(one), abs(other))


def _is_year(number: float) -> bool:
    return number.is_integer() and _YEARS[0] <= number <= _YEARS[1]


def _read(claim: str) -> _Read:
    found = [word.text for word in read_words([claim], Fold())]
    months = frozenset(word for word in found if word in _MONTHS)
    words = {w for w in found if not w[0].isdigit() and w not in _SMALL and w not in NEGATIONS}
    denied = sum(word in NEGATIONS for word in found) % 2 == 1
    return _Read(frozenset(words - months), tuple(_numbers(found)), months, denied)


def _numbers(words: Sequence[str]) -> Iterator[float]:
    for word in words:
        if word[0].isdigit():
            try:
                yield float(word)
            except ValueError:  # a version or a date such as 1.2.3
                continue
