"""Finds quotes and their places in a source, without a model."""

from __future__ import annotations

import math
import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

if TYPE_CHECKING:
    from vr_kernel.quoting.search import Away, Match

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
MOST_PARTS = 8
"""Maximum number of parts of a quote that are put together again."""
_SAME_SCORE = 0.05
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


class QuoteIndex:
    """A source prepared for finding quotes: the passages of one track, in order.

    A quote may run on from one passage into the next, so speech and slides, which are at the
    same time, are two indexes. Text that `lasts` is there from a passage's start to its end, as
    on a slide. Other text is spread over its passage, as speech is: the place of a word follows
    from the share of the characters before it.
    """

    def __init__(self, passages: Sequence[Passage], *, lasts: bool = False) -> None:
        from vr_kernel.quoting.search import Search
        from vr_kernel.quoting.sources import Source

        self._passages, self._lasts = tuple(passages), lasts
        self._source = Source([passage.text for passage in passages])
        self._search = Search(self._source, THRESHOLD)

    def find(self, quote: str, claimed: float | None = None, tolerance: float = 20.0) -> Finding:
        """Find a quote; if several places match, the one nearest to `claimed`.

        A claim that is no finite number is never right: a quote that is found counts as `moved`.
        """
        if not self._source.words or len(quote) > MOST_CHARS:
            return Finding("unchecked")

        def away(first: int) -> float:
            return _distance(self._place(first, claimed), claimed)

        matches = self._matches(quote, away, tolerance)
        good = _apart([match for match in matches if match.score >= THRESHOLD])
        if not good:
            return Finding("not_found", max((match.score for match in matches), default=0.0))
        near = [match for match in good if away(match.first) <= tolerance]
        # A claim that is wrong says nothing of places that are nearly as good.
        least = max(match.score for match in near or good) - (_SAME_SCORE if near else 0)
        fitting = (match for match in near or good if match.score >= least)
        best = min(fitting, key=lambda match: (away(match.first), -match.score, match.first))
        verdict: Verdict = "verified" if near else "moved"
        place, number = self._place(best.first, claimed), self._source.spots[best.first].first
        text = self._source.text(best.pieces or [best[:2]])
        return Finding(verdict, best.score, place, number, text)

    def _place(self, at: int, claimed: float | None) -> float:
        word = self._source.spots[at]
        passage = self._passages[word.first]
        length = max(0.0, passage.end - passage.start)
        if not self._lasts:
            return passage.start + length * word.start / len(passage.text)
        if claimed is None or not math.isfinite(claimed):
            return passage.start
        return min(max(claimed, passage.start), passage.start + length)

    def _matches(self, quote: str, away: Away, tolerance: float) -> list[Match]:
        from vr_kernel.quoting.columns import Columns
        from vr_kernel.quoting.likeness import Piece

        whole, search = Piece(quote), self._search
        found = search.exact(whole, away)
        if whole.short and not found:
            return search.run_together(whole, away)
        if whole.short or any(away(match.first) <= tolerance for match in found):
            return found
        found += search.likely(whole, away)
        if not _any_good(found):
            found += search.run_together(whole, away)
        parts = [part for part in map(Piece, _ELLIPSIS.split(quote)) if part.words]
        if 1 < len(parts) <= MOST_PARTS and not _any_good(found):
            found += search.chains(parts, away)
        if not _any_good(found):
            found += Columns(self._source, whole).find(away)
        return found


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


def _distance(place: float, claimed: float | None) -> float:
    """Distance of a place from the claim; what is no number is infinitely far."""
    away = 0.0 if claimed is None else abs(place - claimed)
    return math.inf if math.isnan(away) else away


def _any_good(matches: Sequence[Match]) -> bool:
    return any(match.score >= THRESHOLD for match in matches)


def _apart(matches: list[Match]) -> list[Match]:
    """Keep only the best of matches that overlap."""
    kept: list[Match] = []
    for match in sorted(matches, key=lambda match: -match.score):
        if all(match.last <= other.first or other.last <= match.first for other in kept):
            kept.append(match)
    return kept
