"""Words of a text for comparing: no case, no accents, no signs, and the place of each word."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from vr_kernel.text.visible_text import without_escapes

NEGATIONS = frozenset(
    str.split(
        "not no never none nobody nothing nowhere neither nor without nicht kein keine keinen"
        " keinem keiner keines nie niemals nichts ohne ne pas jamais rien aucun aucune sans nunca"
        " nada nadie sin non mai senza nao niet geen nooit не нет никогда без"
        " 不 没 沒 無 无 非 未 ない なか ません ไม่"
    )
)
_SMALL = str.split(
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen"
    " fifteen sixteen seventeen eighteen nineteen"
)
_TENS = str.split("twenty thirty forty fifty sixty seventy eighty ninety")
_DIGITS = {word: str(value) for value, word in enumerate(_SMALL)}
_DIGITS |= {
    tens + unit: str(10 * ten + value)
    for ten, tens in enumerate(_TENS, 2)
    for value, unit in enumerate(["", *_SMALL[1:10]])
}
_NUMERALS = frozenset(
    str.split("hundred thousand million billion \u3007 一 二 三 四 五 六 七 八 九 十 百 千 万")
)
_ROUND = frozenset(_DIGITS[word] for word in _TENS)
_ONES = frozenset(_DIGITS[word] for word in _SMALL[1:10])
_HYPHENS = "-\u2010\u2011\u00ad"
_SIGNS = {sign: sign for sign in ".,'%-\n\u00ad"} | {"\u2010": "-"}
_SIGNS |= dict.fromkeys("\u2018\u2019\u02bc", "'")
# Scripts without spaces: each character counts as a word.
_LONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_LETTER = rf"[^\s\d.,'%\u00ad{_LONE}-]"
_TOKEN = re.compile(
    rf"\d+(?:[.,]\d+)*|%|ない|なか(?=っ)|ません|ไม่|[{_LONE}]"
    rf"|{_LETTER}+(?:(?:'|\u00ad|[\u00ad-][^\S\n]*\n\s*){_LETTER}+)*"
)
_CONTRACTED = re.compile(
    r"(can)not|([a-z]+)n't|(do|does|did|is|are|was|were|have|has|had|would|should|could|ca|wo)nt"
)


class Word(NamedTuple):
    """A word or number in comparable form, and its place in a list of texts.

    It goes from the character `start` of the text `first` to the `end` of the text `last`.
    """

    text: str
    first: int
    start: int
    last: int
    end: int


class Fold(dict[str, str]):
    """Fold a character: no case, no accent, no look-alike; most signs become spaces."""

    def __missing__(self, character: str) -> str:
        folded = unicodedata.normalize("NFKD", character).casefold()
        self[character] = "".join(map(_kept, folded))
        return self[character]


def _kept(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isalnum():
        return character
    category = unicodedata.category(character)
    if category[0] == "M":
        return "" if character < "\u0900" or "\ufe00" <= character <= "\ufe0f" else character
    return "" if category == "Cf" else " "


def read_words(texts: Sequence[str], fold: Fold) -> list[Word]:
    """The words and numbers of texts that follow each other; "twenty five" is one number."""
    words: list[Word] = []
    for word in (word for number, text in enumerate(texts) for word in _read(number, text, fold)):
        if words and _is_one_number(words[-1], word, texts):
            tens = words.pop()
            joined = tens.text[0] + word.text
            words.append(tens._replace(text=joined, last=word.last, end=word.end))
        else:
            words.append(word)
    return words


def _read(number: int, text: str, fold: Fold) -> Iterator[Word]:
    folded = [fold[character] for character in without_escapes(text)]
    origins = [at for at, kept in enumerate(folded) for _ in kept] + [len(text)]
    for token in _TOKEN.finditer("".join(folded)):
        end = max(origins[token.end()], origins[token.end() - 1] + 1)
        for word in _spelled(token[0]):
            yield Word(word, number, origins[token.start()], number, end)


def _is_one_number(tens: Word, unit: Word, texts: Sequence[str]) -> bool:
    """True when two numbers in letters are one, such as twenty and five without a sign between."""
    if tens.text not in _ROUND or unit.text not in _ONES:
        return False
    if not all(texts[word.first][word.start].isalpha() for word in (tens, unit)):
        return False
    if tens.first == unit.first:
        between = texts[unit.first][tens.end : unit.start]
    else:
        apart = texts[tens.first + 1 : unit.first]
        between = "".join([texts[tens.first][tens.end :], *apart, texts[unit.first][: unit.start]])
    return all(sign.isspace() or sign in _HYPHENS for sign in between)


def _spelled(token: str) -> tuple[str, ...]:
    if token[0].isdigit():
        return (re.sub(r",(?=\d{3}(?!\d))", "", token).replace(",", "."),)
    if negated := _CONTRACTED.fullmatch(token):
        return str(negated[negated.lastindex or 0]), "not"
    bare = re.sub(r"['\s\u00ad-]", "", token)
    return ("percent" if bare == "%" else _DIGITS.get(bare, bare),)


def join_words(words: Sequence[str]) -> tuple[str, array[int]]:
    """All letters without spaces, and where each word begins; numbers do not run together."""
    texts = [f"{word} " if word[0].isdigit() else word for word in words]
    return "".join(texts), array("I", accumulate(map(len, texts), initial=0))


def is_guarded(word: str) -> bool:
    """True for a word that must match exactly: a number or a negation."""
    return word[0].isdigit() or word in NEGATIONS or word in _NUMERALS
