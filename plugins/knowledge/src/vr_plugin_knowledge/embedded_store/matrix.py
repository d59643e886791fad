"""Vectors in memory, kept in sync with the database."""

from __future__ import annotations

import sqlite3
import threading
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from vr_plugin_knowledge.embedded_store.pieces import Pieces
from vr_plugin_knowledge.embedded_store.schema import SCOPE_BITS, DamagedRowError, scope_of
from vr_plugin_knowledge.embedded_store.scope_vectors import ScopeVectors
from vr_plugin_knowledge.matching.embeddings import FLOAT_BYTES

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Integers = NDArray[np.int64]

CHUNK_ROWS = 1024
LENGTH_ERROR = 1e-3
"""Tolerance of the length of a vector, which is 1."""


@dataclass(frozen=True, slots=True)
class Space:
    """The vectors that may be compared: of one embedder, in one file."""

    embedder: str
    dimension: int
    generation: int


class Matrix:
    """All vectors of one embedder that the database holds, by scope.

    It is read from the database at the first search. Before every search it reads the changes of
    all processes since, which it finds by their rising `seq`.
    """

    def __init__(self) -> None:
        self._idle = threading.Condition()
        self._comparing = 0
        self._helper = ThreadPoolExecutor(1, thread_name_prefix="vr-scores")
        self._space: Space | None = None
        self._seq = 0
        self._scopes: dict[int, ScopeVectors] = {}

    def follow(self, connection: sqlite3.Connection, space: Space) -> None:
        """Read the changes, through a transaction that is open for reading.

        The vectors of another space than `space` are forgotten.
        """
        newest = connection.execute("SELECT max(seq) FROM vector").fetchone()[0] or 0
        with self._idle:
            while self._comparing and self._is_behind(newest, space):
                self._idle.wait()
            if self._is_behind(newest, space):
                self._sync(connection, space)
                self._seq = newest

    @contextmanager
    def comparing(
        self, query: Sequence[float], wanted: Sequence[tuple[int, Integers | None]], limit: int
    ) -> Iterator[Callable[[], dict[int, float]]]:
        """Compare in another thread while the block runs; call `follow` first.

        The yielded function helps with the rest of the work, and returns the cosine similarities of
        the best items of each wanted scope.

        Args:
            query: a vector of the dimension of the space.
            wanted: scopes, each with the item numbers that filters permit, or None for all.
            limit: most items of each scope.
        """
        import numpy as np

        vector = _unit(np.asarray(query, np.float32))
        with self._held():
            begun = {
                scope: self._scopes[scope].compare(vector, _within(scope, permitted))
                for scope, permitted in wanted
                if scope in self._scopes
            }

            def best() -> dict[int, float]:
                found: dict[int, float] = {}
                for scope, comparison in begun.items():
                    counts, scores = comparison.best(limit)
                    items = (counts + (scope << SCOPE_BITS)).tolist()
                    found.update(zip(items, scores.tolist(), strict=True))
                return found

            all_pieces = [piece for each in begun.values() for piece in each.pieces]
            pieces = Pieces(all_pieces, best, self._helper)
            try:
                yield pieces.finish
            finally:
                pieces.abandon()

    def close(self) -> None:
        """End the helper thread."""
        self._helper.shutdown(wait=False)

    @contextmanager
    def _held(self) -> Iterator[None]:
        """Keep the vectors unchanged during the block; several threads may compare at once."""
        with self._idle:
            self._comparing += 1
        try:
            yield
        finally:
            with self._idle:
                self._comparing -= 1
                self._idle.notify_all()

    def _is_behind(self, newest: int, space: Space) -> bool:
        return space != self._space or newest > self._seq

    def _sync(self, connection: sqlite3.Connection, space: Space) -> None:
        if space != self._space:
            self._space, self._seq, self._scopes = space, 0, {}
        rows = connection.execute(
            "SELECT item, value FROM vector WHERE seq > ? AND embedder = ? ORDER BY seq",
            (self._seq, space.embedder),
        )
        while chunk := rows.fetchmany(CHUNK_ROWS):
            self._take(chunk, space.dimension)

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
        read = np.frombuffer(b"".join(value for _, value in live), np.float32)
        values = read.reshape(len(live), dimension)
        with np.errstate(all="ignore"):
            sound = (np.abs(np.vecdot(values, values) - 1) < LENGTH_ERROR).all()
        if not sound:
            raise DamagedRowError("a vector is not what was written")
        scopes = items >> SCOPE_BITS
        for scope in {int(number) for number in scopes}:
            here = scopes == scope
            vectors = self._scopes.setdefault(scope, ScopeVectors(dimension))
            vectors.put(items[here] - (scope << SCOPE_BITS), values[here])


def _within(scope: int, permitted: Integers | None) -> Integers | None:
    return None if permitted is None else permitted - (scope << SCOPE_BITS)


def _unit(vector: Floats) -> Floats:
    import numpy as np

    length = float(np.linalg.norm(vector))
    return vector / np.float32(length) if length > 0 else vector
