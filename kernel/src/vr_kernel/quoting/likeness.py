"""Likeness of a passage of a source to a quote: word by word, then letter by letter."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel.quoting.words import NEGATIONS, Fold, is_guarded, join_words, read_words

SHORT_WORDS, SHORT_CHARS = 3, 12
"""With fewer words, or fewer letters and digits, a quote must match exactly."""
_LIKE, _UNLIKE = 0.65, 0.5
_LETTER_COST = 1.75
_SWAPPED_CHARS = 4


class Piece:
    """A quote or a part of one, and its likeness to a passage of the source."""

    def __init__(self, text: str) -> None:
        from rapidfuzz.distance import LCSseq, Levenshtein
        from rapidfuzz.process import extractOne

        self.words = [word.text for word in read_words([text], Fold())]
        self.letters = join_words(self.words)[0]
        self.short = len(self.words) < SHORT_WORDS or len("".join(self.words)) < SHORT_CHARS
        self._compare, self._closest, self._common = Levenshtein, extractOne, LCSseq
        self._free = [word for word in self.words if not is_guarded(word)]
        self._marks = {word: chr(number) for number, word in enumerate(self.words, 1)}
        self._shape = self.shape_of(self.words)

    def shape_of(self, source: Sequence[str]) -> str:
        """One letter for each word: that of the most similar word here, NUL when there is none."""
        return "".join(self._marks.get(word) or self._mark(word) for word in source)

    def _mark(self, word: str) -> str:
        like = None
        if len(word) > 1 and not is_guarded(word) and not self.short:
            scorer = self._compare.normalized_similarity
            like = self._closest(word, self._free, scorer=scorer, score_cutoff=_LIKE)
        return self._marks.setdefault(word, self._marks[like[0]] if like else "\0")

    def unlike(self, shape: str) -> tuple[int, int]:
        """Count the words that differ, and how few are the same (less is more)."""
        return self._compare.distance(self._shape, shape), -self._common.similarity(
            self._shape, shape
        )

    def score(
        self, source: Sequence[str], shape: str, before: list[str], after: list[str]
    ) -> float:
        """The share of words that are in the source; 0 when a number or negation differs."""
        cost, begin, other = 0.0, 0, 0
        lost: set[str] = set()
        spare = {*before, *after}
        for block in self._common.editops(self._shape, shape).as_matching_blocks():
            mine, theirs = self.words[begin : block.a], source[other : block.b]
            beyond = (before if mine and not begin else []) + (
                after if mine and block.a == len(self.words) else []
            )
            if any(map(is_guarded, mine)) or not NEGATIONS.isdisjoint([*theirs, *beyond]):
                return 0.0
            lost.update(mine)
            spare.update(theirs)
            cost += max(len(mine), len(theirs)) * self._difference("".join(mine), "".join(theirs))
            begin, other = block.a + block.size, block.b + block.size
            cost += sum(map(self._difference, self.words[block.a : begin], source[block.b : other]))
        if any(len(word) >= _SWAPPED_CHARS for word in lost & spare) or (cost and self.short):
            return 0.0
        letters = self._compare.normalized_distance(self.letters, join_words(source)[0])
        return max(0.0, 1 - cost / len(self.words), 1 - _LETTER_COST * letters)

    def _difference(self, mine: str, theirs: str) -> float:
        share = self._compare.normalized_distance(mine, theirs)
        return share if share <= _UNLIKE else 1.0
