"""Finds quotes and their places in a source, without a model."""

from __future__ import annotations

import math
import re
from array import array
from bisect import bisect_left
from collections import Counter, defaultdict
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from heapq import nlargest, nsmallest
from operator import neg
from typing import TYPE_CHECKING, Literal, NamedTuple

if TYPE_CHECKING:
    from vr_kernel.quoting.likeness import Piece

Verdict = Literal["verified", "moved", "not_found", "unchecked"]
THRESHOLD = 0.82
"""Least score of a quote that counts as found: at most one word in six is wrong or missing.

Chosen on 400 to 600 quotes of 5 to 40 words for each kind of damage and of invention, from three
collections of abstracts (cacm, cisi, cranfield: 30,000 words each, in segments of 5 to 15).
Right quotes refused: none for case, signs, spaces; 0.7 % with one word in eight wrong, missing
or added; 2.4 % with one character in ten wrong. Inventions that were found: at most 0.7 % of a
kind, some of which do stand in the text. At 0.8 three times as many inventions pass, at 0.85 6 % of
the quotes with wrong characters are refused.
"""
MOST_CHARS = 2000
"""A longer text is no quote and is not checked."""
ELISION_WORDS = 120
"""Maximum number of words that an ellipsis inside a quote stands for."""
MOST_PARTS = 8
"""Maximum number of parts of a quote that are put together again."""
_HIDDEN_WORDS = 3
_SAME_SCORE = 0.05
_GRAM, _BUCKET, _VOTES, _CANDIDATES, _ANCHORS = 3, 32, 60_000, 8, 24
_CLOSING = re.compile(r"([.!?,;:'\"\u2019\u201d]*[)\]}])")
_BRACKETS = {")": "(", "]": "[", "}": "{"}
_ELLIPSIS = re.compile(r"[\[(]?(?:\.{3,}|[…⋯])[\])]?")


@dataclass(frozen=True, slots=True)
class Passage:
    """A passage of a source: its text, its start and its end.

    Places are seconds of a video, or any other number that rises: a page, a character.
    """

    text: str
    start: float
    end: float


@dataclass(frozen=True, slots=True)
class Finding:
    """Result of looking for a quote.

    `verified`: it is where it was claimed. `moved`: it is only elsewhere. `not_found`: it is not in
    the source. `unchecked`: there is no text to look in, or the quote is too long. `score` is the
    share of it that was found, 0 to 1. When found, `place` is where it begins, `passage` the number
    of that passage from 0, `text` the words as the source has them, and `index` the number of the
    index that has it, for `find_in`.
    """

    verdict: Verdict
    score: float = 0.0
    place: float | None = None
    passage: int | None = None
    text: str = ""
    index: int = 0


class _Match(NamedTuple):
    first: int
    last: int
    score: float


_Away = Callable[[int], float]


class QuoteIndex:
    """A source prepared for finding quotes: the passages of one track, in order.

    A quote may run on from one passage into the next, so speech and slides, which are at the
    same time, are two indexes. Text that `lasts` is there from a passage's start to its end, as
    on a slide. Other text is spread over its passage, as speech is: the place of a word follows
    from the share of the characters before it.
    """

    def __init__(self, passages: Sequence[Passage], *, lasts: bool = False) -> None:
        from vr_kernel.quoting.words import Fold, join_words, read_words

        self._passages, self._lasts = tuple(passages), lasts
        self._spots = read_words([passage.text for passage in passages], Fold())
        self._words = [word.text for word in self._spots]
        self._letters, self._starts = join_words(self._words)
        self._grams: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
        for at in range(len(self._letters) - _GRAM + 1):
            self._grams[self._letters[at : at + _GRAM]].append(at)

    def find(self, quote: str, claimed: float | None = None, tolerance: float = 20.0) -> Finding:
        """Find a quote; if several places match, the one nearest to `claimed`.

        A claim that is no finite number is never right: a quote that is found counts as `moved`.
        """
        if not self._words or len(quote) > MOST_CHARS:
            return Finding("unchecked")

        def away(first: int) -> float:
            return _distance(self._place(first, claimed), claimed)

        matches = self._matches(quote, away, tolerance)
        good = _apart([match for match in matches if match.score >= THRESHOLD])
        if not good:
            return Finding("not_found", max((match.score for match in matches), default=0.0))
        near = [match for match in good if away(match.first) <= tolerance]
        least = max(match.score for match in near or good) - _SAME_SCORE
        fitting = (match for match in near or good if match.score >= least)
        best = min(fitting, key=lambda match: (away(match.first), -match.score, match.first))
        verdict: Verdict = "verified" if near else "moved"
        place, number = self._place(best.first, claimed), self._spots[best.first].first
        return Finding(verdict, best.score, place, number, self._text(best))

    def _place(self, at: int, claimed: float | None) -> float:
        word = self._spots[at]
        passage = self._passages[word.first]
        length = max(0.0, passage.end - passage.start)
        if not self._lasts:
            return passage.start + length * word.start / len(passage.text)
        if claimed is None or not math.isfinite(claimed):
            return passage.start
        return min(max(claimed, passage.start), passage.start + length)

    def _text(self, match: _Match) -> str:
        begin, end = self._spots[match.first], self._spots[match.last - 1]
        texts = [passage.text for passage in self._passages[begin.first : end.last + 1]]
        before, after = texts[0][: begin.start], texts[-1][end.end :]
        texts[-1] = texts[-1][: end.end]
        texts[0] = texts[0][begin.start :]
        return _with_brackets(before, " ".join(texts), after)

    def _matches(self, quote: str, away: _Away, tolerance: float) -> list[_Match]:
        from vr_kernel.quoting.likeness import Piece

        whole = Piece(quote)
        found = self._exact(whole, away)
        if whole.short or any(away(match.first) <= tolerance for match in found):
            return found
        found += self._likely(whole, away)
        parts = [part for part in map(Piece, _ELLIPSIS.split(quote)) if part.words]
        if 1 < len(parts) <= MOST_PARTS and not any(match.score >= THRESHOLD for match in found):
            found += self._chains(parts, away)
        return found

    def _exact(self, piece: Piece, away: _Away) -> list[_Match]:
        """Find the same letters, from the start of a word to the end of one."""
        letters, starts, found = piece.letters, self._starts, []
        at = self._letters.find(letters) if letters else -1
        while at >= 0:
            first, last = bisect_left(starts, at), bisect_left(starts, at + len(letters))
            if starts[first] == at and starts[last] == at + len(letters):
                found.append(_Match(first, last, 1.0))
            at = self._letters.find(letters, at + 1)
        return nsmallest(_ANCHORS, found, key=lambda match: away(match.first))

    def _likely(self, piece: Piece, away: _Away) -> list[_Match]:
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

    def _chains(self, parts: Sequence[Piece], away: _Away) -> list[_Match]:
        """Find a place where all parts follow each other, from the longest on."""
        longest = max(range(len(parts)), key=lambda number: len(parts[number].letters))
        anchors = self._exact(parts[longest], away)
        if not parts[longest].short:
            anchors += self._likely(parts[longest], away)
        chains = (self._extend(anchor, parts, longest) for anchor in anchors)
        return [chain for chain in chains if chain.score >= THRESHOLD]

    def _extend(self, match: _Match, parts: Sequence[Piece], at: int) -> _Match:
        first, last, score = match
        for part in parts[at + 1 :]:
            found = self._best(part, last, last + ELISION_WORDS, float)
            if found.score < THRESHOLD or self._hides(last, found.first):
                return _Match(first, last, 0.0)
            last, score = found.last, min(score, found.score)
        for part in reversed(parts[:at]):
            start = first - len(part.words)
            found = self._best(part, start - ELISION_WORDS, start + 1, neg)
            late = found.last > first
            if found.score < THRESHOLD or late or self._hides(found.last, first):
                return _Match(first, last, 0.0)
            first, score = found.first, min(score, found.score)
        return _Match(first, last, score)

    def _hides(self, first: int, last: int) -> bool:
        """True when a gap of a few words leaves out a negation."""
        from vr_kernel.quoting.words import NEGATIONS

        return last - first <= _HIDDEN_WORDS and not NEGATIONS.isdisjoint(self._words[first:last])

    def _best(self, piece: Piece, low: int, high: int, away: _Away) -> _Match:
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
        around = source[max(0, first - slack) : first], source[last : last + slack]
        score = piece.score(source[first:last], shape[first:last], *around)
        return _Match(low + first, low + last, score)


def find_in(
    indexes: Sequence[QuoteIndex],
    quote: str,
    claimed: float | None = None,
    tolerance: float = 20.0,
) -> Finding:
    """The best finding of several indexes for a quote; of equals the one nearest to the claim."""
    found = [
        replace(index.find(quote, claimed, tolerance), index=number)
        for number, index in enumerate(indexes)
    ]
    ranks: tuple[Verdict, ...] = ("verified", "moved", "not_found", "unchecked")
    return min(
        found,
        key=lambda f: (ranks.index(f.verdict), _distance(f.place or 0.0, claimed), -f.score),
        default=Finding("unchecked"),
    )


def _with_brackets(before: str, text: str, after: str) -> str:
    """A text with the brackets beside it that belong to those in it."""
    missing = [sign for sign, opening in _BRACKETS.items() if before.endswith(opening)]
    if missing and _lacks(text, missing[0]):
        text = before[-1] + text
    while closing := _CLOSING.match(after):
        sign = closing[1][-1]
        if text.count(_BRACKETS[sign]) <= text.count(sign):
            break
        text, after = text + closing[1], after[closing.end() :]
    return text


def _lacks(text: str, sign: str) -> bool:
    """Check for a closing bracket that nothing before it opens."""
    depth = 0
    for character in text:
        depth += (character == _BRACKETS[sign]) - (character == sign)
        if depth < 0:
            return True
    return False


def _distance(place: float, claimed: float | None) -> float:
    """Distance of a place from the claim; what is no number is infinitely far."""
    away = 0.0 if claimed is None else abs(place - claimed)
    return math.inf if math.isnan(away) else away


def _apart(matches: list[_Match]) -> list[_Match]:
    """Keep only the best of matches that overlap."""
    kept: list[_Match] = []
    for match in sorted(matches, key=lambda match: -match.score):
        if all(match.last <= other.first or other.last <= match.first for other in kept):
            kept.append(match)
    return kept
