"""Work in pieces that two threads share."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Generic, TypeVar

T = TypeVar("T")
FEW = 2
"""Number of pieces that are done before another thread would have started."""


class Pieces(Generic[T]):
    """Pieces of work, each done once, by the first free thread.

    Args:
        pieces: the work, to be done in any order and in any thread.
        end: makes the outcome, once all pieces are done.
        helper: starts at once; the caller of `finish` joins in.
    """

    def __init__(
        self, pieces: Iterable[Callable[[], None]], end: Callable[[], T], helper: Executor
    ) -> None:
        self._left = deque(pieces)
        self._end = end
        self._joined = False
        self._helping: Future[T | None] | None = None
        if len(self._left) > FEW:
            self._helping = helper.submit(self._help)

    def finish(self) -> T:
        """The outcome of the pieces, once all are done."""
        self._joined = bool(self._left)
        self._work_off()
        found = self._await_helper()
        return self._end() if found is None else found

    def abandon(self) -> None:
        """Drop the remaining pieces, and return when no thread works any more."""
        self._joined = True
        self._left.clear()
        self._await_helper()

    def _help(self) -> T | None:
        """Work, then make the outcome unless another thread may still have a piece."""
        self._work_off()
        return None if self._joined else self._end()

    def _work_off(self) -> None:
        while True:
            try:
                piece = self._left.popleft()
            except IndexError:
                return
            piece()

    def _await_helper(self) -> T | None:
        helping, self._helping = self._helping, None
        # A helper that has not started is busy with another search, and would find nothing to do.
        return None if helping is None or helping.cancel() else helping.result()
