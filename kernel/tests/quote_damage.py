"""True quotes with named damage, for tests and the benchmark of the quote check."""

from __future__ import annotations

import random
import re
import unicodedata
from collections.abc import Callable
from dataclasses import dataclass
from enum import Enum
from itertools import zip_longest
from textwrap import wrap

from quote_speech import heard

_LIGATURES = {
    "ffi": "ﬃ",
    "ffl": "ﬄ",
    "ff": "ﬀ",
    "fi": "ﬁ",
    "fl": "ﬂ",
    "st": "ﬆ",
    "ae": "æ",
    "oe": "œ",
}
_ALIKE = dict(
    zip(
        "aeopcyxijsABEKMHOPCTX",
        "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u0410\u0412\u0415\u041a\u041c\u041d\u041e\u0420\u0421\u0422\u0425",
        strict=True,
    )
)
_SPACES = (
    "  ",
    "\n",
    "\r\n",
    "\t",
    "\u00a0",
    "\u2009",
    "\u202f",
    "\u3000",
    "\u2003",
    " \u200b",
    "",
)
_MARKS = {
    '"': "\u201c\u201d\u201e\u00ab\u00bb\u201f\u301e\uff02",
    "'": "\u2019\u2018\u201b\u00b4`\u02bc\u2032\uff07",
    "-": "\u2010\u2011\u2013\u2014\u2212\ufe63\uff0d",
}


class Damage(Enum):
    """A kind of damage that leaves a quote true."""

    UNICODE = "unicode form, look-alikes"
    ACCENTS = "accents"
    LIGATURES = "ligatures"
    HYPHENS = "hyphenation"
    SPACES = "whitespace"
    MARKS = "quotation marks, dashes"
    CASE = "case"
    ELLIPSIS = "ellipsis"
    COLUMNS = "columns in the source"
    UNBROKEN = "columns, no line breaks, long"
    ACROSS = "columns in the quote"
    SPEECH = "speech, 15 % of words"


@dataclass(frozen=True)
class TrueQuote:
    """A quote that stands in a text, and the text; one of both is damaged."""

    kind: Damage
    text: str
    quote: str


Rewrite = Callable[[str, random.Random], str]


def damaged(kind: Damage, words: list[str], other: list[str], rng: random.Random) -> TrueQuote:
    """A quote of some of these words; `other` are the words of the column beside them."""
    if kind in (Damage.COLUMNS, Damage.UNBROKEN, Damage.ACROSS):
        return _of_columns(kind, words, other, rng)
    size = min(rng.randint(6, 30), len(words))
    if kind is Damage.ELLIPSIS:
        size = min(rng.randint(16, 40), len(words))
    at = rng.randint(0, len(words) - size)
    quote = " ".join(words[at : at + size])
    hurt = _REWRITES[kind](quote, rng)
    if kind is not Damage.ELLIPSIS and rng.random() < 0.5:
        text = " ".join([*words[:at], hurt, *words[at + size :]])
        return TrueQuote(kind, text, quote)
    return TrueQuote(kind, " ".join(words), hurt)


def _unicode(text: str, rng: random.Random) -> str:
    form = rng.choice(["NFC", "NFD", "NFKC", "NFKD", "alike", "wide", "math", "hidden"])
    if form == "alike":
        return "".join(_ALIKE.get(c, c) if rng.random() < 0.3 else c for c in text)
    if form == "wide":
        return "".join(chr(ord(c) + 0xFEE0) if "!" <= c <= "~" else c for c in text)
    if form == "math":
        return "".join(chr(0x1D41A + ord(c) - 97) if "a" <= c <= "z" else c for c in text)
    if form == "hidden":
        return "".join(c + rng.choice(["\u200b", "\u2060", "\ufeff", "", "", ""]) for c in text)
    return unicodedata.normalize(form, _accents(text, rng))


def _accents(text: str, rng: random.Random) -> str:
    marks = ["\u0301", "\u0308", "\u0300", "\u0302", "\u0327"]
    return "".join(
        unicodedata.normalize("NFC", c + rng.choice(marks))
        if c in "aeiouAEIOUcn" and rng.random() < 0.3
        else {"o": "ø", "l": "ł", "d": "đ", "i": "\u0131"}[c]
        if c in "oldi" and rng.random() < 0.1
        else c
        for c in text
    )


def _ligatures(text: str, _: random.Random) -> str:
    for plain, joined in _LIGATURES.items():
        text = text.replace(plain, joined)
    return text


def _hyphens(text: str, rng: random.Random) -> str:
    def cut(word: str) -> str:
        if not re.fullmatch(r"[a-zA-Z]{5,}[.,;]?", word) or rng.random() < 0.6:
            return word
        at = rng.randint(2, 3)
        signs = ["\u00ad", "-\n", "-\r\n", "\u00ad\n", "\u2010\n", "- ", "-\n   "]
        return word[:at] + rng.choice(signs) + word[at:]

    return " ".join(map(cut, text.split()))


def _spaces(text: str, rng: random.Random) -> str:
    only = rng.choice([*_SPACES, None, None])
    words = text.split()
    if only == "":
        return "".join(words)
    return "".join(w + (rng.choice(_SPACES) if only is None else only) for w in words).strip()


def _marks(text: str, rng: random.Random) -> str:
    text = "".join(rng.choice(_MARKS[c]) if c in _MARKS else c for c in text)
    words = [
        rng.choice(
            [
                "\u201c{}\u201d",
                "\u00ab{}\u00bb",
                "'{}'",
                "{},",
                "{} \u2014",
                "\u2013 {}",
                "({})",
                "*{}*",
                "`{}`",
            ]
        ).format(w)
        if rng.random() < 0.2
        else w
        for w in text.split()
    ]
    return rng.choice(
        ["\u201c{}\u201d", "\u201e{}\u201c", '"{}"', "\u201a{}\u2018", "> {}", "{}"]
    ).format(" ".join(words))


def _case(text: str, rng: random.Random) -> str:
    return rng.choice([str.upper, str.lower, str.title, str.swapcase])(text)


def _ellipsis(text: str, rng: random.Random) -> str:
    words = text.split()
    first = rng.randint(4, len(words) - 10)
    last = rng.randint(first + 4, len(words) - 4)
    sign = rng.choice(
        [" \u2026 ", "... ", " ... ", " [...] ", " (\u2026) ", "\u2026", " [\u2026] "]
    )
    return " ".join(words[:first]) + sign + " ".join(words[last:])


def _of_columns(kind: Damage, words: list[str], other: list[str], rng: random.Random) -> TrueQuote:
    width = rng.randint(28, 48)
    left, right = wrap(" ".join(words), width), wrap(" ".join(other), width)
    if kind is Damage.ACROSS:
        first = rng.randint(0, max(0, min(len(left), len(right)) - 3))
        rows = list(zip(left, right, strict=False))[first : first + rng.randint(2, 3)]
        between = rng.choice([" ", "\n"])
        quote = between.join(f"{mine} {theirs}" for mine, theirs in rows)
        return TrueQuote(kind, "\n".join([*left, *right]), quote)
    if kind is Damage.UNBROKEN:
        rows_of_both = min(len(left), len(right))
        left, right = left[:rows_of_both], right[:rows_of_both]
        words, other = " ".join(left).split(), " ".join(right).split()
    mine = rng.choice([words, other])
    size = min(rng.randint(8, 30), len(mine))
    if kind is Damage.UNBROKEN:
        size = min(rng.randint(30, 44), len(mine))
    at = rng.randint(0, len(mine) - size)
    rows = [
        rng.choice(["{} {}", "{}   {}"]).format(*row).strip()
        for row in zip_longest(left, right, fillvalue="")
    ]
    text = (" " if kind is Damage.UNBROKEN else "\n").join(rows)
    return TrueQuote(kind, text, " ".join(mine[at : at + size]))


_REWRITES: dict[Damage, Rewrite] = {
    Damage.UNICODE: _unicode,
    Damage.ACCENTS: _accents,
    Damage.LIGATURES: _ligatures,
    Damage.HYPHENS: _hyphens,
    Damage.SPACES: _spaces,
    Damage.MARKS: _marks,
    Damage.CASE: _case,
    Damage.ELLIPSIS: _ellipsis,
    Damage.SPEECH: heard,
}
