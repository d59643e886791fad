"""Looks for the places of a source where a quote may stand."""

from __future__ import annotations

from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest, nsmallest
from operator import neg
from typing import NamedTuple

from vr_kernel.quoting.likeness import Piece, Surroundings
from vr_kernel.quoting.sources import RUN_TOGETHER, Source
from vr_kernel.quoting.words import NEGATIONS

ELISION_WORDS = 120
"""Maximum number of words that an ellipsis inside a quote stands for."""
ANCHORS = 24
"""Places of the same letters that are looked at, the nearest first."""
_HIDDEN_WORDS = 3
_GRAM, _BUCKET, _VOTES, _CANDIDATES = 3, 32, 60_000, 8
_HOPELESS, _STRETCH = 0.4, 2


class Match(NamedTuple):
    """A place that is like a quote, from a word to before another one."""

    first: int
    last: int
    score: float
    pieces: tuple[tuple[int, int], ...] = ()
    """The parts of a quote that stand apart, in the order of the quote."""


Away = Callable[[int], float]


class Search:
    """The letters of a source, by which damaged quotes are found.

    Args:
        source: the words.
        threshold: least score of what counts as found.
    """

    def __init__(self, source: Source, threshold: float) -> None:
        self._source, self._threshold = source, threshold
        self._words, self._starts, self._letters = source.words, source.starts, source.letters
        self._grams: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        for at in range(len(self._letters) - _GRAM + 1):
            self._grams[self._letters[at : at + _GRAM]].append(at)

    def exact(self, piece: Piece, away: Away) -> list[Match]:
        """Find the same letters, from the start of a word to the end of one."""
        found = _same_letters(self._letters, self._starts, piece.letters)
        matches = [Match(first, last, 1.0) for first, last, *whole in found if all(whole)]
        return nsmallest(ANCHORS, matches, key=lambda match: away(match.first))

    def run_together(self, piece: Piece, away: Away) -> list[Match]:
        """Find the same letters where spaces are lost, on one side or the other."""
        if len(piece.unread) < RUN_TOGETHER:
            return []
        letters, starts = self._source.unread
        found = []
        for first, last, begins, ends in _same_letters(letters, starts, piece.unread):
            if (begins or self._source.runs_together(first)) and (
                ends or self._source.runs_together(last - 1)
            ):
                found.append(Match(first, last, 1.0))
        return nsmallest(ANCHORS, found, key=lambda match: away(match.first))

    def likely(self, piece: Piece, away: Away) -> list[Match]:
        """Places where a piece may stand with damage, by the rarest letters that it shares."""
        grams = {piece.letters[at : at + _GRAM]: at for at in range(len(piece.letters) - _GRAM + 1)}
        places = [(self._grams[gram], at) for gram, at in grams.items() if gram in self._grams]
        votes: Counter[int] = Counter()
        for found, start in sorted(places, key=lambda place: len(place[0])):
            votes.update([(at - start) // _BUCKET for at in found])
            if votes.total() > _VOTES:
                break
        likely = {bucket: count + votes[bucket + 1] for bucket, count in votes.items()}
        least = max(likely.values(), default=0) / 2
        strong = [bucket for bucket, count in likely.items() if count >= least]
        chosen = set(nlargest(_CANDIDATES, strong, key=likely.__getitem__))
        chosen.update(nsmallest(_CANDIDATES, strong, key=lambda bucket: away(self._at(bucket))))
        spans = [(self._at(bucket - 1), self._at(bucket + 3)) for bucket in sorted(chosen)]
        return [self._best(piece, low, high, away) for low, high in spans]

    def _at(self, bucket: int) -> int:
        return min(bisect_left(self._starts, bucket * _BUCKET), len(self._words) - 1)

    def chains(self, parts: Sequence[Piece], away: Away) -> list[Match]:
        """Find a place where all parts follow each other, from the longest on."""
        longest = max(range(len(parts)), key=lambda number: len(parts[number].letters))
        anchors = self.exact(parts[longest], away)
        if not parts[longest].short:
            anchors += self.likely(parts[longest], away)
        chains = (self._extend(anchor, parts, longest) for anchor in anchors)
        return [chain for chain in chains if chain.score >= self._threshold]

    def _extend(self, match: Match, parts: Sequence[Piece], at: int) -> Match:
        first, last, score, _ = match
        for part in parts[at + 1 :]:
            found = self._best(part, last, last + ELISION_WORDS, float)
            if found.score < self._threshold or self._hides(last, found.first):
                return Match(first, last, 0.0)
            last, score = found.last, min(score, found.score)
        for part in reversed(parts[:at]):
            start = first - len(part.words)
            found = self._best(part, start - ELISION_WORDS, start + 1, neg)
            late = found.last > first
            if found.score < self._threshold or late or self._hides(found.last, first):
                return Match(first, last, 0.0)
            first, score = found.first, min(score, found.score)
        return Match(first, last, score)

    def _hides(self, first: int, last: int) -> bool:
        """True when a gap of a few words leaves out a negation."""
        return last - first <= _HIDDEN_WORDS and not NEGATIONS.isdisjoint(self._words[first:last])

    def _best(self, piece: Piece, low: int, high: int, away: Away) -> Match:
        """The best match of a piece that begins at one of these words; of equals the nearest."""
        low, size = max(low, 0), len(piece.words)
        slack = 1 + size // 6
        source = self._words[low : max(high, low + 1) + size + slack]
        shape = piece.shape_of(source)
        starts = range(max(min(high, len(self._words)) - low, 1))
        first = min(starts, key=lambda s: (piece.unlike(shape[s : s + size]), away(low + s)))
        last = first + size
        for _ in range(2):
            ends = range(max(first, last - slack), last + slack + 1)
            last = min(ends, key=lambda e: (piece.unlike(shape[first:e]), abs(e - first - size)))
            firsts = range(max(0, first - slack), min(last, first + slack) + 1)
            first = min(firsts, key=lambda s: (piece.unlike(shape[s:last]), abs(last - s - size)))
        last = min(last, len(source))
        unlike = piece.unlike(shape[first:last])[0] / max(size, 1)
        if unlike > _HOPELESS:
            return Match(low + first, low + last, max(0.0, 1 - unlike))
        best = Match(low + first, low + last, 0.0)
        for begin, end in _stretched(piece, shape, first, last):
            around = slack, low, begin, end
            score = piece.score(self._around(source, *around), shape[begin:end])
            best = max(best, Match(low + begin, low + end, score), key=lambda match: match.score)
            if best.score >= self._threshold:
                break
        return best

    def _around(
        self, source: list[str], slack: int, low: int, first: int, last: int
    ) -> Surroundings:
        return Surroundings(
            source[first:last],
            source[max(0, first - slack) : first],
            source[last : last + slack],
            self._source.known,
            lambda at: self._source.is_name(low + first + at),
        )


def _stretched(piece: Piece, shape: str, first: int, last: int) -> Iterator[tuple[int, int]]:
    """A place, and places a little longer or shorter where an end of the quote is not in it."""
    yield first, last
    begins, ends = piece.ends_in(shape[first:last])
    if not begins:
        yield min(first + 1, last), last
        yield from ((first - more, last) for more in range(1, _STRETCH + 1) if more <= first)
    if not ends:
        yield first, max(last - 1, first)
        room = len(shape) - last
        yield from ((first, last + more) for more in range(1, _STRETCH + 2) if more <= room)


def _same_letters(
    letters: str, starts: Sequence[int], wanted: str
) -> Iterator[tuple[int, int, bool, bool]]:
    """Places of letters, in words, and if they begin with one and end with one."""
    at = letters.find(wanted) if wanted else -1
    while at >= 0:
        end = at + len(wanted)
        first, last = bisect_left(starts, at), bisect_left(starts, end)
        begins, ends = starts[first] == at, starts[last] == end
        yield first - (not begins), last, begins, ends
        at = letters.find(wanted, at + 1)
