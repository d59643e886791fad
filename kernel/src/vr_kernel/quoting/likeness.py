"""Likeness of a passage of a source to a quote: word by word, then letter by letter."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass

from vr_kernel.quoting.alignment import ALIKE, TINY, Differences, Span, is_meaningful
from vr_kernel.quoting.words import NEGATIONS, Fold, is_guarded, join_words, read_words, written

SHORT_WORDS, SHORT_CHARS = 3, 12
"""With fewer words, or fewer letters and digits, a quote must match exactly."""
_LETTER_COST = 1.75
_FAR = 2
_MOST_UNLIKE = 0.25
"""Share of words for which nothing accounts, from which no score is worth computing."""


@dataclass(frozen=True, slots=True)
class Surroundings:
    """A passage of a source, and what is known of the words around it."""

    words: Sequence[str]
    before: list[str]
    after: list[str]
    known: Collection[str]
    """All words of the source."""
    is_name: Callable[[int], bool]
    """Tells if the passage's word of that number is a name."""


class Piece:
    """A quote or a part of one, and its likeness to a passage of the source."""

    def __init__(self, text: str) -> None:
        from rapidfuzz.distance import LCSseq, Levenshtein
        from rapidfuzz.process import extractOne

        spots = read_words([text], Fold())
        self.words = [word.text for word in spots]
        self.letters = join_words(self.words)[0]
        self.unread, self.starts = written(spots)
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
            like = self._closest(word, self._free, scorer=scorer, score_cutoff=ALIKE)
        return self._marks.setdefault(word, self._marks[like[0]] if like else "\0")

    def unlike(self, shape: str) -> tuple[int, int]:
        """Count the words that differ, and how few are the same (less is more)."""
        return self._compare.distance(self._shape, shape), -self._common.similarity(
            self._shape, shape
        )

    def ends_in(self, shape: str) -> tuple[bool, bool]:
        """Tell if the first word is the first of a passage, and the last one the last."""
        return self._shape[:1] == shape[:1], self._shape[-1:] == shape[-1:]

    def score(self, source: Surroundings, shape: str) -> float:
        """The share of words that are in the source; 0 when what differs changes its meaning."""
        differences = Differences(source.known, self._compare.normalized_distance)
        cost, unlike, moved = 0.0, 0.0, set[str]()
        lost, spare = set[str](), set(filter(is_meaningful, [*source.before, *source.after]))
        for (begin, end), (first, last) in self._blocks(source.words, shape):
            mine, theirs = Span(self.words, begin, end), Span(source.words, first, last)
            found = differences.compare(mine, theirs, source.is_name)
            beside = self._beside(source, begin, end)
            if (
                self._moves_negation(mine, theirs)
                or found.forged
                or (found.lost and not NEGATIONS.isdisjoint(beside))
            ):
                return 0.0
            cost, unlike = cost + found.cost, unlike + found.unlike
            if unlike > _MOST_UNLIKE * len(self.words):
                return 0.0
            lost |= found.lost
            nearest = self._next_to(source, begin, end)
            if not nearest.isdisjoint(found.lost):
                return 0.0
            spare |= found.spare
            moved.update(filter(is_meaningful, found.spare))
        if lost & spare or not moved.isdisjoint(self.words) or (cost and self.short):
            return 0.0
        letters = self._compare.normalized_distance(self.letters, join_words(source.words)[0])
        most = 1 - unlike / len(self.words)
        return max(0.0, 1 - cost / len(self.words), min(most, 1 - _LETTER_COST * letters))

    def _moves_negation(self, mine: Span, theirs: Span) -> bool:
        """True when a negation has another word beside it than in the source."""
        if len(mine) or len(theirs) < _FAR:
            return False
        around = self.words[max(0, mine.begin - 1) : mine.end + 1]
        return not NEGATIONS.isdisjoint(around)

    def _beside(self, source: Surroundings, begin: int, end: int) -> list[str]:
        """The words around a passage, for words at an end of the quote that are not in it."""
        before = source.before if not begin else []
        return [*before, *(source.after if end == len(self.words) else [])]

    def _next_to(self, source: Surroundings, begin: int, end: int) -> set[str]:
        """The words beside a passage that may have changed places with one of these."""
        before = source.before[-1:] if begin <= 1 else []
        return {*before, *(source.after[:1] if end >= len(self.words) - 1 else [])} - TINY

    def _blocks(
        self, source: Sequence[str], shape: str
    ) -> list[tuple[tuple[int, int], tuple[int, int]]]:
        """The places where quote and passage differ, in words of each."""
        found, begin, other = [], 0, 0
        for block in self._common.editops(self._shape, shape).as_matching_blocks():
            for step in range(block.size):
                mine, theirs = block.a + step, block.b + step
                if self.words[mine] != source[theirs]:
                    continue
                if (mine, theirs) != (begin, other):
                    found.append(((begin, mine), (other, theirs)))
                begin, other = mine + 1, theirs + 1
        if (begin, other) != (len(self.words), len(source)):
            found.append(((begin, len(self.words)), (other, len(source))))
        return found
