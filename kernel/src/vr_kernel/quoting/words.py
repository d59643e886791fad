"""Words of a text for comparing: no case, no accents, no signs, and the place of each word."""

from __future__ import annotations

import re
import unicodedata
from array import array
from collections.abc import Iterator, Sequence
from functools import partial
from itertools import accumulate
from typing import NamedTuple

from vr_kernel.quoting.spoken_numbers import DIGITS, Spoken, may_begin, may_go_on, read_number
from vr_kernel.text.visible_text import without_escapes

NEGATIONS = frozenset(
    str.split(
        "not no never none nobody nothing nowhere neither nor without nicht kein keine keinen"
        " keinem keiner keines nie niemals nichts ohne ne pas jamais rien aucun aucune sans nunca"
        " nada nadie sin non mai senza nao niet geen nooit не нет никогда без"
        " 不 没 沒 無 无 非 未 ない なか ません ไม่"
        " hardly scarcely barely"
    )
)
_NUMERALS = frozenset(
    str.split(
        "hundred thousand million billion half twice dozen"
        " \u3007 一 二 三 四 五 六 七 八 九 十 百 千 万"
    )
)
LONGEST_NUMBER = 24
"""Words of a number that is spelled out, at most; a column of numbers is not one of them."""
_HYPHENS = "-\u2010\u2011\u00ad"
_DASHES = frozenset("\u2012\u2013\u2014\u2212\ufe58\ufe63\uff0d")
_SIGNS = {sign: sign for sign in ".,'%-\n\u00ad"} | {"\u2010": "-"}
_SIGNS |= dict.fromkeys("\u2018\u2019\u201b\u02bc\u02b9\u2032\u2035`\u00b4\uff07\uff40", "'")
_LETTERS = dict(zip("æœþðøłđħıŧ", str.split("ae oe th d o l d h i t"), strict=True))
# Letters of Cyrillic and Greek that look like Latin ones (Unicode's confusables), small or as
# capitals; only the first ten do so as small letters too.
_LOOKALIKES = dict(
    zip("асеорхуіјѕвкмнтһԁԛԝӏαβεζικορτχ", "aceopxyijsbkmhthdqwlabezikoptx", strict=True)
)
_SAME_LETTERS = frozenset(list(_LOOKALIKES)[:10])
# Scripts without spaces: each character counts as a word.
_LONE = "\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3005-\u30ff\u3400-\u9fff\U00020000-\U0003ffff"
_LETTER = rf"[^\s\d.,'%\u00ad{_LONE}-]"
_TOKEN = re.compile(
    rf"\d+(?:st|nd|rd|th)(?!{_LETTER})|(?<![\d.,])\.\d+|\d+(?:[.,]\d+)*|%|ない|なか(?=っ)|ません|ไม่|[{_LONE}]"
    rf"|{_LETTER}+(?:(?:'|\u00ad|[\u00ad-][^\S\n]*\n\s*){_LETTER}+)*"
)
_CONTRACTED = re.compile(
    r"(can)not|([a-z]+)n't|(do|does|did|is|are|was|were|have|has|had|would|should|could|ca|wo)nt"
)
_WHOLE_VERBS = {"ca": "can", "wo": "will", "sha": "shall"}


class Word(NamedTuple):
    """A word or number in comparable form, and its place in a list of texts.

    It goes from the character `start` of the text `first` to the `end` of the text `last`.
    """

    text: str
    first: int
    start: int
    last: int
    end: int
    written: str | None = None
    """The letters as they stand, where they are others; digits and a space for digits."""


_Spelling = tuple[str, str | None]
"""A word in comparable form, and as it is written."""


class Fold(dict[str, str]):
    """Fold a character: no case, no accent, no look-alike; most signs become spaces."""

    def __missing__(self, character: str) -> str:
        folded = unicodedata.normalize("NFKD", character).casefold()
        kept = "".join(map(_kept, folded))
        self[character] = _SIGNS.get(character) or kept
        return self[character]


def _kept(character: str) -> str:
    if character in _SIGNS:
        return _SIGNS[character]
    if character.isalnum():
        return _LETTERS.get(character, character)
    category = unicodedata.category(character)
    if category[0] == "M":
        return "" if character < "\u0900" or "\ufe00" <= character <= "\ufe0f" else character
    return "" if category == "Cf" else " "


def read_words(texts: Sequence[str], fold: Fold) -> list[Word]:
    """The words and numbers of texts that follow each other; "twenty five" is one number."""
    words = [word for number, text in enumerate(texts) for word in _read(number, text, fold)]
    joined: list[Word] = []
    at = 0
    while at < len(words):
        word, used = words[at], 1
        if at + 1 < len(words) and may_begin(word.text) and may_go_on(words[at + 1].text):
            word, used = _number(words, at, texts)
        joined.append(word)
        at += used
    return joined


def _read(number: int, text: str, fold: Fold) -> Iterator[Word]:
    folded = [fold[character] for character in without_escapes(text)]
    origins = [at for at, kept in enumerate(folded) for _ in kept] + [len(text)]
    whole = "".join(folded)
    read = _spelled if whole.isascii() else partial(_disguised, latin=_is_latin(whole))
    for token in _TOKEN.finditer(whole):
        end = max(origins[token.end()], origins[token.end() - 1] + 1)
        for word, stood in read(token[0]):
            yield Word(word, number, origins[token.start()], number, end, stood)


def _is_latin(text: str) -> bool:
    """True for a text whose letters are mostly Latin."""
    letters = sum(map(str.isalpha, text))
    return 2 * sum("a" <= sign <= "z" for sign in text) > letters


def _disguised(token: str, *, latin: bool) -> tuple[_Spelling, ...]:
    """The words of a token whose letters may only look like Latin ones."""
    mixed = any("a" <= sign <= "z" for sign in token)
    if mixed or (latin and _SAME_LETTERS.issuperset(token)):
        token = "".join(_LOOKALIKES.get(sign, sign) for sign in token)
    return _spelled(token)


def _number(words: Sequence[Word], at: int, texts: Sequence[str]) -> tuple[Word, int]:
    """The number that begins here, and how many words it takes."""
    end, most = at + 1, min(len(words), at + LONGEST_NUMBER)
    while end < most and may_go_on(words[end].text) and _touch(words[end - 1], words[end], texts):
        end += 1
    run = [Spoken(word.text, texts[word.first][word.start].isalpha()) for word in words[at:end]]
    text, used = read_number(run)
    last = words[at + used - 1]
    stood = "".join(it.text if it.written is None else it.written for it in words[at : at + used])
    return words[at]._replace(text=text, last=last.last, end=last.end, written=stood), used


def _touch(one: Word, other: Word, texts: Sequence[str]) -> bool:
    """True when only spaces or hyphens are between two words."""
    if one.last == other.first:
        between = texts[other.first][one.end : other.start]
    else:
        apart = texts[one.last + 1 : other.first]
        between = "".join([texts[one.last][one.end :], *apart, texts[other.first][: other.start]])
    return between in _DASHES or all(sign.isspace() or sign in _HYPHENS for sign in between)


def _spelled(token: str) -> tuple[_Spelling, ...]:
    if token[0] == "." or token[0].isdigit():
        plain = re.sub(r",(?=\d{3}(?!\d))", "", token).replace(",", ".")
        plain = f"0{plain}" if plain[0] == "." else plain
        return ((plain, f"{plain} "),)
    bare = re.sub(r"['\s\u00ad-]", "", token)
    if negated := _CONTRACTED.fullmatch(token):
        verb = str(negated[negated.lastindex or 0])
        return (_WHOLE_VERBS.get(verb, verb), bare), ("not", "")
    if bare in DIGITS:
        return ((DIGITS[bare], bare),)
    return (("percent" if bare == "%" else bare, None),)


def join_words(words: Sequence[str]) -> tuple[str, array[int]]:
    """All letters without spaces, and where each word begins; numbers do not run together."""
    texts = [f"{word} " if word[:1].isdigit() else word for word in words]
    return "".join(texts), array("I", accumulate(map(len, texts), initial=0))


def is_guarded(word: str) -> bool:
    """True for a word that must match exactly: a number or a negation."""
    return word[0].isdigit() or word in NEGATIONS or word in _NUMERALS


def written(words: Sequence[Word]) -> tuple[str, array[int]]:
    """All letters as they are written, and where each word begins."""
    texts = [word.text if word.written is None else word.written for word in words]
    return "".join(texts), array("I", accumulate(map(len, texts), initial=0))
