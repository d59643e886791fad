"""Sentences of a text, and those that say most of what it is about."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import log

LEAST_CHARS, MOST_CHARS = 40, 300
"""Shorter pieces are headings and lists, longer ones are no sentence that one reads at once."""
MOST_SENTENCES = 20_000
MOST_A_PART = 2
"""Most sentences of one part of a document."""
ALIKE = 0.5
"""Share of words that two sentences may have in common."""
EARLY = 0.25
"""What a sentence at the very beginning gains over one at the end, as a share of its score."""
_END = re.compile(
    r"(?<=[.!?\u2026])[\"'\u201d\u2019)\]*]*\s+(?=[^\W\d_a-z]|\d)|(?<=[\u3002\uff01\uff1f])"
    r"|\n{2,}|\n(?=\s*(?:[-*\u2022]|\d+[.)])\s)"
)
LENGTH = 0.7
"""Power of its number of words by which a sentence's weight is divided: 1 favours short ones."""
_CODE = re.compile(r"[{}|=#<>\\_]")
_WORD = re.compile(r"[^\W\d_]{3,}")
_LETTERS = 0.8
"""Least share of letters: the rest are tables, code and formulas."""


@dataclass(frozen=True, slots=True)
class Sentence:
    """A sentence, the number of its part of the document, and its words."""

    text: str
    part: int
    words: frozenset[str]


def sentences_of(texts: Sequence[str]) -> list[Sentence]:
    """Return the sentences of the parts of a document, in order."""
    found: list[Sentence] = []
    for part, text in enumerate(texts):
        for piece in _pieces(text):
            words = frozenset(word.casefold() for word in _WORD.findall(piece))
            if len(words) > MOST_A_PART:
                found.append(Sentence(piece, part, words))
        if len(found) > MOST_SENTENCES:
            break
    return found


def telling(sentences: Sequence[Sentence], most: int) -> list[Sentence]:
    """Return the sentences whose words the document repeats most, the best first, no two alike."""
    counts = Counter(word for each in sentences for word in each.words)
    total = len(sentences)
    weights = {w: log(1 + n) * log((total + 1) / (n + 0.5)) for w, n in counts.items()}
    scores = {
        at: sum(weights[word] for word in each.words)
        / len(each.words) ** LENGTH
        * (1 + EARLY * (1 - at / total))
        for at, each in enumerate(sentences)
    }
    chosen: list[int] = []
    of_part: Counter[int] = Counter()
    for at in sorted(scores, key=lambda it: -scores[it]):
        each = sentences[at]
        if of_part[each.part] >= MOST_A_PART and len(sentences) > most * MOST_A_PART:
            continue
        if any(_alike(each, sentences[other]) for other in chosen):
            continue
        chosen.append(at)
        of_part[each.part] += 1
        if len(chosen) == most:
            break
    return [sentences[at] for at in chosen]


def _pieces(text: str) -> Iterator[str]:
    for piece in _END.split(text):
        plain = " ".join(piece.replace("**", "").split()).lstrip("#-*>\u2022 ")
        letters = sum(char.isalpha() or char == " " for char in plain)
        fits = LEAST_CHARS <= len(plain) <= MOST_CHARS and letters >= _LETTERS * len(plain)
        if fits and not _CODE.search(plain):
            yield plain


def _alike(one: Sentence, other: Sentence) -> bool:
    return len(one.words & other.words) > ALIKE * min(len(one.words), len(other.words))
