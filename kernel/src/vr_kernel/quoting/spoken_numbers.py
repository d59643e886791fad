"""Numbers in English words, read as the digits that they stand for."""

from __future__ import annotations

from collections.abc import Sequence
from decimal import Decimal
from typing import NamedTuple

_SMALL = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
_ORDINALS = str.split(
    "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
    " thirteenth fourteenth fifteenth sixteenth seventeenth eighteenth nineteenth"
)
SCALES = {"thousand": 1_000, "million": 1_000_000, "billion": 1_000_000_000}
HUNDRED, AND, POINT = "hundred", "and", "point"


def _ending(number: int) -> str:
    return {1: "st", 2: "nd", 3: "rd"}.get(number, "th")


DIGITS = {word: str(value) for value, word in enumerate(_SMALL)}
DIGITS |= {word: f"{value}{_ending(value)}" for value, word in enumerate(_ORDINALS, 1)}
DIGITS |= {
    tens + unit: str(10 * ten + value)
    for ten, tens in enumerate(_TENS, 2)
    for value, unit in enumerate(["", *_SMALL[1:10]])
}
"""Numbers below a hundred and ordinals below twenty, written together."""
_YEAR_BEGINS, _YEAR_ENDS = range(11, 21), range(10, 100)


class Spoken(NamedTuple):
    """A word of a number in comparable form; `said` when it was written in letters."""

    text: str
    said: bool


def may_begin(text: str) -> bool:
    """Check quickly if a longer number may begin with a word."""
    return text[0].isdigit() and text[-1].isdigit()


def may_go_on(text: str) -> bool:
    """Check quickly if a word may belong to a number that has begun."""
    return text[0].isdigit() or text in SCALES or text in (HUNDRED, AND, POINT)


def read_number(words: Sequence[Spoken]) -> tuple[str, int]:
    """The number that words begin with, in digits, and how many of them it takes."""
    value, at = _whole(words)
    said = words[0].said
    if said and at + 1 < len(words) and words[at].text == POINT and _unit(words[at + 1 :]):
        return _with_decimals(value, words, at)
    if said and at == 1 and len(words) > 1 and _is_tens(value) and _is_ordinal(words[1]):
        return f"{int(value) + int(words[1].text[:-2])}{words[1].text[-2:]}", 2
    return (words[0].text, 1) if at <= 1 else (_plain(value), at)


def _whole(words: Sequence[Spoken]) -> tuple[Decimal, int]:
    total, at, last = Decimal(0), 0, max(SCALES.values()) + 1
    while True:
        begin = at + (at > 0 and at < len(words) and words[at].text == AND)
        value, used = _group(words[begin:], first=not at)
        scale = _scale(words, begin + used) if used else 0
        if not used or scale >= last:
            return total, at
        total, at = total + value * (scale or 1), begin + used + (scale > 0)
        if not scale:
            return total, at
        last = scale


def _group(words: Sequence[Spoken], *, first: bool) -> tuple[Decimal, int]:
    """A number below a thousand, a year, or digits before a word such as million."""
    if words and not words[0].said:
        return (_digits(words[0].text), 1) if first else (Decimal(0), 0)
    value, at = _below_hundred(words)
    if not at:
        return Decimal(0), 0
    if at < len(words) and words[at].text == HUNDRED:
        begin = at + 1 + (at + 1 < len(words) and words[at + 1].text == AND)
        rest, used = _below_hundred(words[begin:])
        if used and not _is_scale(words, begin + used):
            return Decimal(100 * value + rest), begin + used
        return Decimal(100 * value), at + 1
    rest, used = _below_hundred(words[at:])
    if first and value in _YEAR_BEGINS and rest in _YEAR_ENDS:
        return Decimal(100 * value + rest), at + used
    return Decimal(value), at


def _below_hundred(words: Sequence[Spoken]) -> tuple[int, int]:
    if not words or not words[0].said or not words[0].text.isdecimal():
        return 0, 0
    value = int(words[0].text)
    if _is_tens(value) and _unit(words[1:]) and words[1].text != "0":
        return value + int(words[1].text), 2
    return value, 1


def _unit(words: Sequence[Spoken]) -> bool:
    return bool(words) and words[0].said and words[0].text.isdecimal() and len(words[0].text) == 1


def _is_tens(value: Decimal | int) -> bool:
    return value in range(20, 100, 10)


def _is_ordinal(word: Spoken) -> bool:
    return word.said and word.text[0].isdecimal() and len(word.text) == len("1st")


def _is_scale(words: Sequence[Spoken], at: int) -> bool:
    return at < len(words) and (words[at].text == HUNDRED or words[at].text in SCALES)


def _scale(words: Sequence[Spoken], at: int) -> int:
    return SCALES.get(words[at].text, 0) if at < len(words) else 0


def _digits(text: str) -> Decimal:
    return Decimal(text) if text.replace(".", "", 1).isdecimal() and text.isascii() else Decimal(0)


def _with_decimals(value: Decimal, words: Sequence[Spoken], at: int) -> tuple[str, int]:
    end = at + 1
    while _unit(words[end:]):
        end += 1
    return f"{_plain(value)}.{''.join(word.text for word in words[at + 1 : end])}", end


def _plain(value: Decimal) -> str:
    text = f"{value:f}"
    return text.rstrip("0").rstrip(".") if "." in text else text
