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
ROUNDED = 0.05
"""Part by which two numbers may differ that are the same where one is said to be rough."""
ROUNDED_OFF = 0.01
"""Part by which a number that ends in zeros may differ from the one that it was rounded from."""
_ROUGH = frozenset(str.split("about around approximately roughly nearly almost circa some"))
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
    codes: frozenset[str]
    denied: bool
    rough: bool


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
    part = ROUNDED if left.rough or right.rough else 0.0
    lone = _unmatched(left.numbers, right.numbers, part)
    lonely = _unmatched(right.numbers, left.numbers, part)
    if lone and lonely:
        years = [any(map(_is_year, each)) for each in (lone, lonely)]
        if all(map(_is_year, (*lone, *lonely))):
            return "date"
        return None if all(years) else "number"  # of two years, two numbers may both be right
    if left.codes and right.codes and left.codes.isdisjoint(right.codes):
        return "number"
    if left.months and right.months and left.months.isdisjoint(right.months):
        return "date"
    return None


def _by_negation(left: _Read, right: _Read, alike: float) -> ConflictKind | None:
    return "scope" if left.denied != right.denied and alike >= DENIED else None


def _unmatched(some: Sequence[float], others: Sequence[float], part: float) -> list[float]:
    """The numbers that have no equal among others, each of which stands for one."""
    left = list(others)
    lone: list[float] = []
    for number in some:
        same = next((each for each in left if _is_same(number, each, part)), None)
        if same is None:
            lone.append(number)
        else:
            left.remove(same)
    return lone


def _is_same(one: float, other: float, part: float) -> bool:
    if _is_year(one) and _is_year(other):
        return one == other
    if abs(one - other) <= part * max(abs(one), abs(other)):
        return True
    less = abs(one - other) <= ROUNDED_OFF * max(abs(one), abs(other))
    return less and (_rounds_to(one, other) or _rounds_to(other, one))


def _rounds_to(number: float, other: float) -> bool:
    """True when a number that ends in zeros is the other one, rounded off."""
    zeros = len(f"{number:.0f}") - len(f"{number:.0f}".rstrip("0"))
    return number.is_integer() and zeros > 0 and round(other, -zeros) == number


def _is_year(number: float) -> bool:
    return number.is_integer() and _YEARS[0] <= number <= _YEARS[1]


def _read(claim: str) -> _Read:
    found = [word.text for word in read_words([claim], Fold())]
    months = frozenset(word for word in found if word in _MONTHS)
    words = {w for w in found if not w[0].isdigit() and w not in _SMALL and w not in NEGATIONS}
    denied = sum(word in NEGATIONS for word in found) % 2 == 1
    return _Read(
        words=frozenset(words - months),
        numbers=tuple(_numbers(found)),
        months=months,
        codes=frozenset(word for word in found if word[0].isdigit() and _number(word) is None),
        denied=denied,
        rough=not _ROUGH.isdisjoint(found),
    )


def numbers_in(text: str) -> tuple[float, ...]:
    """The numbers of a text, in digits or in words, in their order."""
    return tuple(_numbers([word.text for word in read_words([text], Fold())]))


def _numbers(words: Sequence[str]) -> Iterator[float]:
    for word in words:
        if word[0].isdigit() and (number := _number(word)) is not None:
            yield number


def _number(word: str) -> float | None:
    """The value of a number; None for a code, such as the version 1.2.3."""
    try:
        return float(word)
    except ValueError:
        return None
