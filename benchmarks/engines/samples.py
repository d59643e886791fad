"""Texts, vectors and questions made up alike for every engine; needs nothing but numpy.

Words follow Zipf's law, and the most common are English stop words, as they are in English:
about half of all words. A question is six words of a text, as they stand there. Vectors lie
around 2,000 centres, as those of real texts lie around subjects.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np  # noqa: TID253 - this module is for a process of its own

DIMENSION = 384
CENTRES = 2000
LENGTH = 60
ASKED = 6
GROUPS = 10
STOP_WORDS = (
    "the of and to in a is that it was for on are as with his they i at be this have from or had"
    " by not but what all were we when your can there an which their if will each about out up"
    " them then she these so some her would him into has more no my than who its now did down"
    " only most very after our just where do how over any same me why he been being both few"
    " further off once other own under until while whom you again against am because before"
    " below between could does doing during here having hers too such through those should"
)
_SYLLABLES = [a + b for a in "bcdfghjklmnprstvwz" for b in "aeiou"]
WORDS = np.array(
    [
        *STOP_WORDS.split(),
        *map("".join, itertools.islice(itertools.product(_SYLLABLES, repeat=3), 0, None, 15)),
    ]
)


@dataclass(frozen=True, slots=True)
class Question:
    """Words of a text, and a vector near that text's."""

    text: str
    vector: Any


@dataclass(frozen=True)
class Samples:
    """So many rows; the same in every process."""

    count: int

    @cached_property
    def _picked(self) -> Any:
        shares = 1 / np.arange(1, len(WORDS) + 1)
        chance = np.random.default_rng(1)
        return chance.choice(len(WORDS), (self.count, LENGTH), p=shares / shares.sum())

    @cached_property
    def texts(self) -> list[str]:
        """A text a row."""
        return [" ".join(WORDS[row]) for row in self._picked]

    @cached_property
    def vectors(self) -> Any:
        """A vector of unit length a row."""
        chance = np.random.default_rng(2)
        centres = chance.standard_normal((CENTRES, DIMENSION), dtype=np.float32)
        spread = chance.standard_normal((self.count, DIMENSION), dtype=np.float32)
        return _unit(centres[chance.integers(0, CENTRES, self.count)] + 0.7 * spread)

    def questions(self, count: int) -> list[Question]:
        """Questions about rows drawn at random."""
        chance = np.random.default_rng(3)
        rows = chance.choice(self.count, count, replace=False)
        near = _unit(self.vectors[rows] + 0.02 * chance.standard_normal((count, DIMENSION)))
        words = [WORDS[chance.choice(self._picked[row], ASKED, replace=False)] for row in rows]
        return [
            Question(" ".join(text), vector.astype(np.float32))
            for text, vector in zip(words, near, strict=True)
        ]


def group_of(row: int) -> str:
    """The value of the field that filters ask for; a tenth of all rows has each."""
    return f"g{row % GROUPS}"


def _unit(vectors: Any) -> Any:
    return vectors / np.linalg.norm(vectors, axis=1, keepdims=True)
