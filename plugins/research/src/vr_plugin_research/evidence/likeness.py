"""Likeness of texts by their words, for choosing, joining and comparing without a model."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from vr_kernel import Segment

SENTENCE_CHARS = 600
_HEADING = re.compile(r"^#{1,6} .*$", re.MULTILINE)
_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_SENTENCE = re.compile(r"(?<=[.!?\u3002\uff01\uff1f])\s+(?=[^\s\d.,;)])|\n{2,}")
_STOP = frozenset(
    str.split(
        "a an and are as at be been but by can could did do does for from had has have how if in"
        " into is it its many may more most much of on or our should so such than that the"
        " their them then there these they this to was we were what when where which who why will"
        " with would you your der die das und ist von mit ein eine le la les et des un une el los y"
        " de"
    )
)


@lru_cache(maxsize=4_096)
def words_of(text: str) -> frozenset[str]:
    """The words of a text that carry meaning, in lower case and without endings."""
    found = (word.casefold() for word in _WORD.findall(text))
    return frozenset(_stem(word) for word in found if word not in _STOP)


def sense_of(text: str) -> tuple[str, ...]:
    """The words of a text that carry meaning, in their order: equal ones say the same.

    Nothing less is the same: one other word, number or order may turn a sentence round.
    """
    found = (word.casefold() for word in _WORD.findall(text))
    return tuple(_stem(word) for word in found if word not in _STOP)


def overlap(question: str, text: str) -> float:
    """The part of a question's words that a text has, 0 to 1."""
    asked = words_of(question)
    return len(asked & words_of(text)) / len(asked) if asked else 0.0


def likeness(one: str, other: str) -> float:
    """Tell how much two claims say the same, 0 to 1, by their words in any order."""
    from rapidfuzz.fuzz import token_sort_ratio

    left, right = (" ".join(sorted(words_of(each))) for each in (one, other))
    return token_sort_ratio(left, right) / 100 if left and right else 0.0


def best_overlap(questions: Iterable[str], text: str) -> tuple[float, int]:
    """The highest overlap of a text with several questions, and the number of that question."""
    scores = [(overlap(each, text), -at) for at, each in enumerate(questions)]
    score, at = max(scores, default=(0.0, 0))
    return score, -at


def sentences_of(segment: Segment) -> Iterator[str]:
    """The sentences of a part of a document that are long enough to say something."""
    for sentence in _SENTENCE.split(_HEADING.sub("\n\n", segment.text)):
        plain = " ".join(sentence.split())
        if 20 <= len(plain) <= SENTENCE_CHARS:  # noqa: PLR2004 - a heading is no sentence
            yield plain


@lru_cache(maxsize=50_000)
def _stem(word: str) -> str:
    """A word without its English endings, which words of other languages seldom have."""
    from snowballstemmer import stemmer

    return str(stemmer("english").stemWord(word))
