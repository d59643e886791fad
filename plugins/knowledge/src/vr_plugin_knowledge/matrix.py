"""Vectors in memory, kept in step with the database, and the exact search over them."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vr_plugin_knowledge.schema import SCOPE_BITS, DamagedRowError, scope_of

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Integers = NDArray[np.int64]

BLOCK_ROWS = 4096
CHUNK_ROWS = 1024
FLOAT_BYTES = 4
LENGTH_ERROR = 1e-3
"""Every vector was written with a length of 1."""
GATHER_SHARE = 0.3
"""Below this share of permitted rows, copying them is cheaper than scoring all rows."""


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors that may be compared: of one embedder, in one file."""

    embedder: str
    dimension: int
    generation: int


class ScopeVectors:
    """The vectors of one scope in blocks of rows, so that growing never copies them all."""

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
        """Forget one vector; the last row takes its place."""
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

    def best(
        self, query: Floats, limit: int, permitted: Integers | None
    ) -> tuple[Integers, Floats]:
        """Item numbers within the scope and their inner products, best first."""
        import numpy as np

        if permitted is None:
            rows, scores = None, self._scores(query)
        else:
            rows = self._rows[permitted[permitted < len(self._rows)]]
            rows = rows[rows >= 0]
            few = len(rows) < GATHER_SHARE * self.size
            scores = self._gathered(query, rows) if few else self._scores(query)[rows]
        picked = np.arange(len(scores))
        if len(scores) > limit:
            picked = np.argpartition(-scores, limit - 1)[:limit]
        picked = picked[np.argsort(-scores[picked], kind="stable")]
        found = picked if rows is None else rows[picked]
        return self._counts[found], scores[picked]

    def _scores(self, query: Floats) -> Floats:
        import numpy as np

        scores = np.empty(self.size, np.float32)
        for number, block in enumerate(self._blocks):
            start = number * BLOCK_ROWS
            part = scores[start : start + BLOCK_ROWS]
            # Not `dot`: BLAS starts threads for it, and took 13 to 170 ms where this took 6.
            np.vecdot(block[: len(part)], query, out=part)
        return scores

    def _gathered(self, query: Floats, rows: Integers) -> Floats:
        import numpy as np

        scores = np.empty(len(rows), np.float32)
        numbers = rows // BLOCK_ROWS
        for number in np.unique(numbers):
            here = numbers == number
            scores[here] = np.vecdot(self._blocks[number][rows[here] % BLOCK_ROWS], query)
        return scores

    def _block_row(self, row: int) -> Floats:
        found: Floats = self._blocks[row // BLOCK_ROWS][row % BLOCK_ROWS]
        return found

    def _reserve(self, counts: int, rows: int) -> None:
        import numpy as np

        while len(self._blocks) * BLOCK_ROWS < rows:
            self._blocks.append(np.empty((BLOCK_ROWS, self._dimension), np.float32))
        self._counts = _grown(self._counts, rows, 0)
        self._rows = _grown(self._rows, counts, -1)


class Matrix:
    """All vectors of one embedder that the database holds, by scope.

    It is read from the database at the first search, and before every search whatever any
    process changed since, found by its rising `seq`.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._space: Space | None = None
        self._seq = 0
        self._scopes: dict[int, ScopeVectors] = {}

    def follow(self, connection: sqlite3.Connection, space: Space) -> None:
        """Read what changed, through a transaction that is open for reading.

        The vectors of another space than `space` are forgotten.
        """
        with self._lock:
            self._sync(connection, space)

    def best(
        self, query: Sequence[float], wanted: Sequence[tuple[int, Integers | None]], limit: int
    ) -> dict[int, float]:
        """Cosine similarities of the best items of each wanted scope; after `follow`.

        It asks no connection, so it may run beside a search of another kind.

        Args:
            query: a vector of the dimension of the space.
            wanted: scopes, each with the item numbers that filters permit, or None for all.
            limit: how many of each scope.
        """
        import numpy as np

        vector = _unit(np.asarray(query, np.float32))
        found: dict[int, float] = {}
        with self._lock:
            for scope, permitted in wanted:
                vectors = self._scopes.get(scope)
                if vectors is None:
                    continue
                low = scope << SCOPE_BITS
                within = None if permitted is None else permitted - low
                counts, scores = vectors.best(vector, limit, within)
                found.update(zip((counts + low).tolist(), scores.tolist(), strict=True))
        return found

    def _sync(self, connection: sqlite3.Connection, space: Space) -> None:
        if space != self._space:
            self._space, self._seq, self._scopes = space, 0, {}
        newest = connection.execute("SELECT max(seq) FROM vector").fetchone()[0] or 0
        if newest <= self._seq:
            return
        rows = connection.execute(
            "SELECT item, value FROM vector WHERE seq > ? AND embedder = ? ORDER BY seq",
            (self._seq, space.embedder),
        )
        while chunk := rows.fetchmany(CHUNK_ROWS):
            self._take(chunk, space.dimension)
        self._seq = newest

    def _take(self, chunk: list[tuple[int, bytes | None]], dimension: int) -> None:
        import numpy as np

        length = dimension * FLOAT_BYTES
        live = [(item, value) for item, value in chunk if value and len(value) == length]
        for item, value in chunk:
            if value is None and (vectors := self._scopes.get(scope_of(item))):
                vectors.drop(item - (scope_of(item) << SCOPE_BITS))
        if not live:
            return
        items = np.array([item for item, _ in live], np.int64)
        values = np.frombuffer(b"".join(value for _, value in live), np.float32)
        values = values.reshape(len(live), dimension)
        with np.errstate(all="ignore"):
            sound = (np.abs(np.vecdot(values, values) - 1) < LENGTH_ERROR).all()
        if not sound:
            raise DamagedRowError("a vector is not what was written")
        scopes = items >> SCOPE_BITS
        for scope in {int(number) for number in scopes}:
            here = scopes == scope
            vectors = self._scopes.setdefault(scope, ScopeVectors(dimension))
            vectors.put(items[here] - (scope << SCOPE_BITS), values[here])


def pack_vector(vector: Sequence[float], dimension: int) -> bytes | None:
    """A vector of unit length as the database keeps it; None when it has no direction."""
    import numpy as np

    values = np.asarray(vector, np.float32)
    if values.shape != (dimension,) or not np.isfinite(values).all() or not values.any():
        return None
    return _unit(values).tobytes()


def _unit(vector: Floats) -> Floats:
    import numpy as np

    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0 else vector


def _grown(values: Integers, size: int, empty: int) -> Integers:
    import numpy as np

    if size <= len(values):
        return values
    larger = np.full(max(size, len(values) * 5 // 4, BLOCK_ROWS), empty, np.int64)
    larger[: len(values)] = values
    return larger
