"""The vectors of one scope, and the exact search over them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Integers = NDArray[np.int64]

BLOCK_ROWS = 4096
PIECE_ROWS = 4096
"""Rows that are scored at once; a block holds a whole number of pieces."""
CACHED_ROWS = 512
"""Vectors of 384 numbers that stay in a processor's cache while they are scored."""
GATHER_SHARE = 0.3
"""Below this share of permitted rows, copying them is cheaper than scoring all rows."""
RUN = 64
Piece = Callable[[], None]


@dataclass(frozen=True, slots=True)
class Comparison:
    """A question and the vectors of one scope.

    Attributes:
        pieces: the work to be done before `best`, in any order.
        scores: the inner products that they compute, row by row.
        counts: the item number of each row.
        rows: those that count, or None for all.
    """

    pieces: Sequence[Piece]
    scores: Floats
    counts: Integers
    rows: Integers | None = None

    def best(self, limit: int) -> tuple[Integers, Floats]:
        """Item numbers within the scope and their inner products, best first."""
        scores = self.scores if self.rows is None else self.scores[self.rows]
        picked = _highest(scores, limit)
        found = picked if self.rows is None else self.rows[picked]
        return self.counts[found], scores[picked]


class ScopeVectors:
    """The vectors of one scope in blocks of rows, so that growing never copies them all.

    Args:
        dimension: the length of every vector.
    """

    def __init__(self, dimension: int) -> None:
        import numpy as np

        self.size = 0
        self._dimension = dimension
        self._blocks: list[Floats] = []
        self._counts = np.empty(0, np.int64)
        self._rows = np.empty(0, np.int64)

    def put(self, counts: Integers, vectors: Floats) -> None:
        """Add or replace vectors; `counts` are item numbers within the scope, each once."""
        import numpy as np

        self._reserve(int(counts.max()) + 1, self.size + len(counts))
        rows = self._rows[counts]
        new = rows < 0
        added = int(new.sum())
        rows[new] = np.arange(self.size, self.size + added)
        self._rows[counts] = rows
        self._counts[rows] = counts
        self.size += added
        for number in {int(n) for n in rows // BLOCK_ROWS}:
            here = rows // BLOCK_ROWS == number
            self._blocks[number][rows[here] % BLOCK_ROWS] = vectors[here]

    def drop(self, count: int) -> None:
        """Remove one vector; the last row takes its place."""
        if count >= len(self._rows) or self._rows[count] < 0:
            return
        hole, last = int(self._rows[count]), self.size - 1
        moved = int(self._counts[last])
        self._block_row(hole)[:] = self._block_row(last)
        self._counts[hole], self._rows[moved] = moved, hole
        self._rows[count] = -1
        self.size = last
        if self.size <= (len(self._blocks) - 1) * BLOCK_ROWS:
            self._blocks.pop()

    def compare(self, query: Floats, permitted: Integers | None) -> Comparison:
        """Start a comparison with the vectors of some item numbers, or of all.

        No vector may be added or dropped before it is done.
        """
        import numpy as np

        if permitted is None:
            scores = np.empty(self.size, np.float32)
            return Comparison(self._pieces(query, scores), scores, self._counts)
        rows = self._rows[permitted[permitted < len(self._rows)]]
        rows = rows[rows >= 0]
        if len(rows) < GATHER_SHARE * self.size:
            scores = np.empty(len(rows), np.float32)
            return Comparison(self._gathers(query, rows, scores), scores, self._counts[rows])
        scores = np.empty(self.size, np.float32)
        return Comparison(self._pieces(query, scores), scores, self._counts, rows)

    def _pieces(self, query: Floats, scores: Floats) -> list[Piece]:
        return [
            partial(self._score, query, scores, start) for start in range(0, self.size, PIECE_ROWS)
        ]

    def _score(self, query: Floats, scores: Floats, start: int) -> None:
        import numpy as np

        part, inside = scores[start : start + PIECE_ROWS], start % BLOCK_ROWS
        block = self._blocks[start // BLOCK_ROWS]
        # Not `dot`: BLAS starts threads for it, and took 13 to 170 ms where this took 6.
        np.vecdot(block[inside : inside + len(part)], query, out=part)

    def _gathers(self, query: Floats, rows: Integers, scores: Floats) -> list[Piece]:
        starts = range(0, len(rows), CACHED_ROWS)
        return [partial(self._gather, query, rows, scores, start) for start in starts]

    def _gather(self, query: Floats, rows: Integers, scores: Floats, start: int) -> None:
        import numpy as np

        part = rows[start : start + CACHED_ROWS]
        numbers, inside = part // BLOCK_ROWS, part % BLOCK_ROWS
        for number in set(numbers.tolist()):
            here = numbers == number
            found = np.vecdot(self._blocks[number][inside[here]], query)
            scores[start : start + CACHED_ROWS][here] = found

    def _block_row(self, row: int) -> Floats:
        found: Floats = self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return found

    def _reserve(self, counts: int, rows: int) -> None:
        import numpy as np

        while len(self._blocks) * BLOCK_ROWS < rows:
            self._blocks.append(np.empty((BLOCK_ROWS, self._dimension), np.float32))
        self._counts = _grown(self._counts, rows, 0)
        self._rows = _grown(self._rows, counts, -1)


def _highest(scores: Floats, limit: int) -> Integers:
    """Positions of the highest scores, highest first.

    They all lie in the runs of `RUN` scores whose maximum is among the `limit` highest maxima, so
    that only these runs are searched.
    """
    import numpy as np

    picked = np.arange(len(scores))
    whole = len(scores) - len(scores) % RUN
    tops = scores[:whole].reshape(-1, RUN).max(axis=1)
    if len(tops) > limit:
        least = np.partition(tops, -limit)[-limit]
        picked = np.flatnonzero(scores >= least)
    if len(picked) > limit:
        picked = picked[np.argpartition(-scores[picked], limit - 1)[:limit]]
    return picked[np.argsort(-scores[picked], kind="stable")]


def _grown(values: Integers, size: int, empty: int) -> Integers:
    import numpy as np

    if size <= len(values):
        return values
    larger = np.full(max(size, len(values) * 5 // 4, BLOCK_ROWS), empty, np.int64)
    larger[: len(values)] = values
    return larger
