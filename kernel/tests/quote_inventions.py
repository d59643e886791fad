"""Quotes that nobody said, made of a source's own words, for tests and the benchmark."""

from __future__ import annotations

import json
import random
import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from enum import Enum
from itertools import pairwise
from pathlib import Path

from quote_speech import SMALL

_NOT = str.split("is are was were be can could may will would has have does do did should must")
_NUMBERS = str.split(
    "two three four five six seven eight nine ten eleven twelve twenty thirty fifty hundred"
    " thousand million first third fourth fifth half"
)
_SYNONYMS = dict(
    pair.split("/")
    for pair in str.split(
        "show/demonstrate shown/demonstrated method/technique methods/techniques large/big"
        " small/tiny used/employed use/employment given/provided obtained/acquired"
        " obtain/acquire also/moreover results/findings result/outcome problem/difficulty"
        " problems/difficulties made/created paper/article describes/portrays"
        " described/portrayed discussed/examined presented/offered important/significant"
        " new/novel number/quantity many/numerous several/various find/discover"
        " found/discovered possible/feasible because/since however/nevertheless"
        " between/among effect/influence effects/influences study/investigation"
        " studies/investigations increase/growth considered/regarded required/needed"
        " necessary/essential about/concerning system/arrangement systems/arrangements"
        " information/knowledge theory/doctrine determine/ascertain determined/ascertained"
        " calculated/reckoned computer/machine program/routine programs/routines"
        " approximate/rough general/universal simple/easy different/distinct"
        " similar/comparable form/shape part/portion value/magnitude values/magnitudes"
        " high/elevated low/reduced good/fine speed/velocity range/span case/instance"
        " cases/instances library/archive research/inquiry user/customer users/customers"
        " work/labour development/evolution analysis/dissection experimental/empirical"
        " surface/exterior flow/current pressure/stress body/object wing/airfoil plate/sheet"
        " equation/formula equations/formulas solution/answer solutions/answers"
        " procedure/process language/tongue algorithm/recipe order/sequence data/figures"
        " time/duration set/collection"
    )
)
_COMMON = frozenset(str.split("this that these those with from when which where there their"))


class Invention(Enum):
    """A way to make a quote that does not stand in the source."""

    SHUFFLED = "words of a sentence shuffled"
    JOINED = "halves of two sentences"
    NUMBER = "a number changed"
    NEGATION = "a negation added or removed"
    SWAPPED = "two words exchanged"
    NAME = "a name replaced by another"
    COLLAGE = "words from all over"
    PARAPHRASE = "a paraphrase"


@dataclass(frozen=True)
class Text:
    """Sentences of a source, in order."""

    sentences: list[str]

    @property
    def words(self) -> list[str]:
        """All words."""
        return " ".join(self.sentences).split()


def invented(kind: Invention, text: Text, rng: random.Random) -> str | None:
    """A quote that does not stand in the text; None when a sentence has nothing to change."""
    long = [it for it in text.sentences if 6 <= len(it.split()) <= 40]
    quote = _INVENTORS[kind](rng.choice(long).split(), text, rng) if long else None
    return quote if quote and not stands(quote, text.words) else None


def stands(quote: str, words: Sequence[str]) -> bool:
    """True when the very words stand in a text, whatever their signs and their small words."""
    return f" {_plain(quote)} " in f" {_plain(' '.join(words))} "


def _plain(text: str) -> str:
    said = re.findall(r"\w+", text.casefold())
    return " ".join(word for word in said if word not in SMALL and word != "into")


def _shuffled(words: list[str], _: Text, rng: random.Random) -> str:
    return " ".join(rng.sample(words, len(words)))


def _joined(words: list[str], text: Text, rng: random.Random) -> str | None:
    other = rng.choice(text.sentences).split()
    if len(other) < 6 or other == words:
        return None
    return " ".join([*words[: len(words) // 2], *other[len(other) // 2 :]])


def _number(words: list[str], _: Text, rng: random.Random) -> str | None:
    places = [
        n for n, word in enumerate(words) if re.search(r"\d", word) or _bare(word) in _NUMBERS
    ]
    if not places:
        return None
    at = rng.choice(places)
    other = rng.choice([word for word in _NUMBERS if word != _bare(words[at])])
    if digits := re.findall(r"\d", words[at]):
        old = rng.choice(digits)
        other = words[at].replace(old, rng.choice([d for d in "123456789" if d != old]), 1)
    return " ".join([*words[:at], other, *words[at + 1 :]])


def _negation(words: list[str], _: Text, rng: random.Random) -> str | None:
    said = [n for n, word in enumerate(words) if _bare(word) in ("not", "no", "never", "without")]
    if said:
        at = rng.choice(said)
        return " ".join([*words[:at], *words[at + 1 :]])
    places = [n for n, word in enumerate(words) if _bare(word) in _NOT]
    if not places:
        return None
    at = rng.choice(places)
    return " ".join([*words[: at + 1], rng.choice(["not", "never"]), *words[at + 1 :]])


def _swapped(words: list[str], _: Text, rng: random.Random) -> str | None:
    places = [n for n, word in enumerate(words) if _is_content(word)]
    pairs = [(a, b) for a in places for b in places if a < b and unlike(words[a], words[b])]
    if not pairs:
        return None
    first, last = rng.choice(pairs)
    words[first], words[last] = words[last], words[first]
    # A word beside itself would only be said twice.
    doubled = any(_bare(one) == _bare(other) for one, other in pairwise(words))
    return None if doubled else " ".join(words)


def _name(words: list[str], text: Text, rng: random.Random) -> str | None:
    mine = [n for n, word in enumerate(words) if n and _is_name(word)]
    if not mine:
        return None
    at = rng.choice(mine)
    names = {word for it in text.sentences for word in it.split()[1:] if _is_name(word)}
    # The word beside it would only be said twice.
    beside = {_bare(word) for word in words[at - 1 : at + 2]}
    names = {name for name in names if _bare(name) not in beside}
    others = sorted(name for name in names if unlike(name, words[at]))
    if not others:
        return None
    return " ".join([*words[:at], rng.choice(others), *words[at + 1 :]])


def _collage(words: list[str], text: Text, rng: random.Random) -> str:
    return " ".join(rng.sample(text.words, len(words)))


def _paraphrase(words: list[str], _: Text, rng: random.Random) -> str | None:
    fitting = [n for n, word in enumerate(words) if _bare(word) in _SYNONYMS]
    if len(fitting) < len(words) / 5:
        return None
    for at in rng.sample(fitting, len(fitting)):
        words[at] = _SYNONYMS[_bare(words[at])]
    return " ".join(words)


def _bare(word: str) -> str:
    return word.casefold().strip(".,;:?!()[]'\"")


def _is_content(word: str) -> bool:
    return len(_bare(word)) >= 3 and _bare(word).isalpha() and _bare(word) not in SMALL


def _is_name(word: str) -> bool:
    bare = word.strip(".,;:?!()[]'\"")
    return (
        len(bare) >= 4 and bare.isalpha() and bare[0].isupper() and bare.casefold() not in _COMMON
    )


def unlike(one: str, other: str) -> bool:
    """True for words that nobody takes for each other: fewer than six in ten letters the same."""
    return SequenceMatcher(None, _bare(one), _bare(other)).ratio() < 0.6


_INVENTORS: dict[Invention, Callable[[list[str], Text, random.Random], str | None]] = {
    Invention.SHUFFLED: _shuffled,
    Invention.JOINED: _joined,
    Invention.NUMBER: _number,
    Invention.NEGATION: _negation,
    Invention.SWAPPED: _swapped,
    Invention.NAME: _name,
    Invention.COLLAGE: _collage,
    Invention.PARAPHRASE: _paraphrase,
}


def read_collection(file: Path, sentences: int = 60) -> list[Text]:
    """The abstracts of a judged collection, as texts of so many sentences."""
    found: dict[str, None] = {}
    for line in file.read_text("utf-8").splitlines():
        row = json.loads(line)
        whole = f"{row['title']} . {row['text']}" if not row["text"] else row["text"]
        whole = whole.split(" CACM ")[0]
        found.update(dict.fromkeys(it.strip() for it in re.split(r"(?<=[.?!])\s+", whole)))
    good = [it for it in found if len(it.split()) >= 5]
    return [Text(good[at : at + sentences]) for at in range(0, len(good) - sentences, sentences)]
