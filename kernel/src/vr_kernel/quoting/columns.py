"""Quotes from pages of two columns, where lines of one column stand between those of the other."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from heapq import nsmallest
from itertools import islice, pairwise

from vr_kernel.quoting.likeness import Piece
from vr_kernel.quoting.search import ANCHORS, Away, Match
from vr_kernel.quoting.sources import Source

ANCHOR, HEAD = 12, 6
"""Letters by which a place is found, and those by which the next line is."""
LEAST_LETTERS = 24
"""A shorter quote is not put together of lines: its pieces would fit anywhere."""
LEAST_GAP, MOST_GAP = 6, 90
"""Letters of the other column that stand between: a word at least, a wide line at most."""
LEAST_LINE = 36
"""Letters of a line across two columns; lines of captions are shorter."""
LEAST_PIECE = 8
MOST_SHARE = 0.7
"""Part of the longest line that one column takes."""
MOST_UNEVEN, MOST_RAGGED = 3.3, 2.2
"""Times by which columns may differ in width, and lines of a column in length."""
MOST_LINES, MOST_APART = 40, 8_000
"""Lines of a quote; letters between two columns, which is more than a page has."""
MOST_EDGES = 5_000
"""Edges of words that are looked at for a quote, however often its letters stand there."""
LEAST_GAPPED = 4
"""Lines of a quote where no line breaks tell that they are lines."""
LEAST_WOVEN = 4
"""Pieces of a quote across two columns: two lines of each."""
LEAST_APART = 100
"""Letters between the same lines of two columns: words that change places are nearer."""
_ENDS, _NEXT, _LATE_START = 3, 4, 24
_Pieces = list[tuple[int, int]]


class Columns:
    """A quote that is looked for in lines that stand apart.

    Every letter has to be the same, and in the same order. The lines between have to be alike in
    length or to end where lines of the text end, which words that were picked do not.
    """

    def __init__(self, source: Source, piece: Piece) -> None:
        self._quote, self._piece = piece.unread, piece
        (self._letters, self._starts), self._breaks = source.unread, source.breaks
        self._left = MOST_EDGES

    def find(self, away: Away) -> list[Match]:
        """The places of all lines together; the first line counts."""
        if len(self._quote) < LEAST_LETTERS:
            return []
        found = [self._match(pieces) for pieces in self._candidates(away)]
        return nsmallest(ANCHORS, found, key=lambda match: away(match.first))

    def _candidates(self, away: Away) -> Iterator[_Pieces]:
        for skipped in (at for at in self._piece.starts if at <= _LATE_START):
            for at in self._anchors(skipped, away):
                pieces = self._of_lines(skipped, at) or self._of_gaps(skipped, at)
                if not pieces and not skipped:
                    pieces = self._of_threads(at)
                if pieces:
                    yield pieces

    def _match(self, pieces: _Pieces) -> Match:
        words = tuple(
            (bisect_right(self._starts, at) - 1, bisect_left(self._starts, end))
            for at, end in pieces
        )
        return Match(words[0][0], max(last for _, last in words), 1.0, words)

    def _anchors(self, skipped: int, away: Away) -> list[int]:
        found = list(self._places(self._quote[skipped : skipped + ANCHOR], 0, len(self._letters)))
        more = self._quote[skipped : skipped + 2 * ANCHOR]

        def worth(at: int) -> tuple[bool, float]:
            first = bisect_right(self._starts, at) - 1
            return not self._letters.startswith(more, at), away(first)

        return nsmallest(ANCHORS, found, key=worth)

    def _places(self, wanted: str, low: int, high: int) -> Iterator[int]:
        """Places of letters that begin with a word or a line."""
        at = self._letters.find(wanted, low, high) if wanted else -1
        while at >= 0 and self._left > 0:
            if self._is_edge(at):
                yield at
            at = self._letters.find(wanted, at + 1, high)

    def _is_edge(self, at: int) -> bool:
        self._left -= 1
        return any(
            (n := bisect_left(edges, at)) < len(edges) and edges[n] == at
            for edges in (self._starts, self._breaks)
        )

    def _same(self, said: int, at: int, high: int) -> int:
        """The end of the letters that are the same from here on."""
        low, high = 0, min(high - at, len(self._quote) - said)
        while low < high:
            middle = (low + high + 1) // 2
            if self._letters.startswith(self._quote[said + low : said + middle], at + low):
                low = middle
            else:
                high = middle - 1
        return at + low

    def _ends(self, at: int, end: int) -> list[int]:
        """The last edges of words up to an end, the farthest first."""
        self._left -= _ENDS
        last = bisect_right(self._starts, end)
        edges = [*self._starts[max(0, last - _ENDS) : last]]
        line = bisect_right(self._breaks, end)
        edges += self._breaks[max(0, line - 1) : line]
        return sorted({edge for edge in edges if at < edge}, reverse=True)

    def _line(self, at: int) -> tuple[int, int]:
        number = bisect_right(self._breaks, at)
        begin = self._breaks[number - 1] if number else 0
        return begin, self._breaks[number] if number < len(self._breaks) else len(self._letters)

    def _of_lines(self, skipped: int, at: int) -> _Pieces | None:
        if not self._breaks:
            return None
        for right in (False, True):
            before = self._lines_before(skipped, at, right=right) if skipped else [[]]
            rest = self._lines(skipped, at, right=right, depth=0) if before else None
            for pieces in ([*first, *rest] for first in before if rest):
                if len(pieces) > 1 and self._are_columns(pieces):
                    return pieces
        return None

    def _lines_before(self, skipped: int, at: int, *, right: bool) -> list[_Pieces]:
        """The ends of a line of the column in which a quote may begin."""
        begin, _ = self._line(at)
        if (begin == at) is right:
            return []
        if right:
            start = begin - skipped
            same = start >= 0 and self._letters[start:begin] == self._quote[:skipped]
            return [[(start, begin)]] if same and self._is_edge(start) else []
        low, _ = self._line(begin - 1) if begin else (0, 0)
        starts = self._places(self._quote[:skipped], low, begin)
        return [[(start, start + skipped)] for start in starts if self._is_edge(start + skipped)]

    def _lines(self, said: int, at: int, *, right: bool, depth: int) -> _Pieces | None:
        """The lines of one column from here on: the left one, or the right one."""
        _, high = self._line(at)
        end = self._same(said, at, high)
        if said + end - at == len(self._quote):
            return [(at, end)] if self._is_edge(end) else None
        if depth > MOST_LINES or self._left <= 0:
            return None
        ends = ([high] if end == high else []) if right else self._ends(at, end)
        for stop in ends:
            gone = said + stop - at
            follow = self._next_right(gone, high) if right else [high]
            for begin in follow:
                if rest := self._lines(gone, begin, right=right, depth=depth + 1):
                    return [(at, stop), *rest]
        return None

    def _next_right(self, said: int, begin: int) -> list[int]:
        _, high = self._line(begin)
        found = self._places(self._quote[said : said + HEAD], begin, high)
        return list(islice(found, _NEXT))

    def _are_columns(self, pieces: _Pieces) -> bool:
        """True when the lines are long, and a single gap is about half of one."""
        gaps = [(a[1], b[0]) for a, b in pairwise(pieces) if a[1] != b[0]]
        if not gaps or any(end - at < LEAST_PIECE for at, end in pieces[1:-1]):
            return False
        lines = [self._line(at) for at, _ in gaps]
        longest = max(high - low for low, high in [*lines, self._line(lines[-1][1])])
        # A gap is what is left of the line, or what comes first in it.
        halves = [
            (at - low, high - at) if end == high else (end - low, high - end)
            for (at, end), (low, high) in zip(gaps, lines, strict=True)
        ]
        if longest < LEAST_LINE or max(map(max, halves)) > MOST_SHARE * longest:
            return False
        return len(gaps) > 1 or _are_even(halves[0], MOST_UNEVEN)

    def _of_gaps(self, skipped: int, at: int) -> _Pieces | None:
        """Lines with gaps of one size between, where line breaks are lost."""
        before: _Pieces = []
        if skipped:
            low = max(0, at - MOST_GAP - skipped)
            starts = list(self._places(self._quote[:skipped], low, at - LEAST_GAP))
            starts = [start for start in starts if self._is_edge(start + skipped)]
            before = [(start, start + skipped) for start in starts[-1:]]
        if skipped and not before:
            return None
        return self._gapped(skipped, at, before)

    def _gapped(self, said: int, at: int, before: _Pieces) -> _Pieces | None:
        end = self._same(said, at, len(self._letters))
        if said + end - at == len(self._quote):
            pieces = [*before, (at, end)]
            lines = bisect_left(self._breaks, end) - bisect_right(self._breaks, pieces[0][0])
            regular = lines == 0 and _are_regular(pieces)
            return pieces if regular and self._is_edge(end) else None
        if len(before) > MOST_LINES or self._left <= 0:
            return None
        for stop in self._ends(at, end):
            head = self._quote[said + stop - at :][:HEAD]
            pieces = [*before, (at, stop)]
            places = list(self._places(head, stop + LEAST_GAP, stop + MOST_GAP + HEAD))[:_NEXT]
            for begin in places:
                gaps = _gaps([*pieces, (begin, begin)])
                # The last line beside the quote may end its paragraph, and be short.
                even = len(gaps) == 1 or _are_even(gaps[:-1], MOST_RAGGED)
                found = even and self._gapped(said + stop - at, begin, pieces)
                if found:
                    return found
        return None

    def _of_threads(self, at: int) -> _Pieces | None:
        """Lines of a quote that was read across two columns, which the source has in order."""
        for stop in self._ends(at, self._same(0, at, len(self._letters))):
            head = self._quote[stop - at : stop - at + ANCHOR]
            low, high = max(0, at - MOST_APART), at + MOST_APART
            near = nsmallest(ANCHORS, self._places(head, low, high), key=lambda p: abs(p - at))
            for other in near:
                pieces = self._woven(stop - at, (other, stop), [(at, stop)])
                if pieces and _are_woven(pieces):
                    return pieces
        return None

    def _woven(self, said: int, next_places: tuple[int, int], done: _Pieces) -> _Pieces | None:
        """Pieces that go on in turn at one place and at the other."""
        at, waiting = next_places
        end = self._same(said, at, len(self._letters))
        if said + end - at == len(self._quote):
            return [*done, (at, end)] if self._is_edge(end) else None
        if len(done) > MOST_LINES or self._left <= 0:
            return None
        for stop in self._ends(at, end):
            pieces = self._woven(said + stop - at, (waiting, stop), [*done, (at, stop)])
            if pieces:
                return pieces
        return None


def _gaps(pieces: _Pieces) -> list[int]:
    """The letters between pieces."""
    return [after[0] - before[1] for before, after in pairwise(pieces)]


def _are_even(sizes: Sequence[int], times: float) -> bool:
    return max(sizes) <= times * min(sizes)


def _are_regular(pieces: _Pieces) -> bool:
    """True for four lines or more of about one length; the last may be shorter or longer."""
    sizes = [end - at for at, end in pieces]
    inner = sizes[1:-1]
    if len(pieces) < LEAST_GAPPED or min(inner) < LEAST_PIECE:
        return False
    return sizes[0] <= MOST_RAGGED * min(inner) and _are_even(inner, MOST_RAGGED)


def _are_woven(pieces: _Pieces) -> bool:
    """True for two lines of two columns at least, far apart, none of which is a word or two."""
    if len(pieces) < LEAST_WOVEN or min(end - at for at, end in pieces[:-1]) < LEAST_PIECE:
        return False
    one, other = sorted((places[0][0], places[-1][1]) for places in (pieces[::2], pieces[1::2]))
    return other[0] - one[1] >= LEAST_APART
