"""Work in pieces that two threads take in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future
from typing import Generic, TypeVar

T = TypeVar("T")
FEW = 2
"""So many pieces are done before another thread would have begun."""


class Pieces(Generic[T]):
    """Pieces of work, each done once, by whoever comes first.

    Args:
        pieces: what is to be done, in any order and in any thread.
        end: gives what comes of them, once all are done.
        helper: begins at once; whoever calls `finish` joins in.
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
        """Return when nobody is at work any more, whatever is left."""
        self._joined = True
        self._left.clear()
        self._await_helper()

    def _help(self) -> T | None:
        """Work, and go on to the end unless another thread may still have a piece."""
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
        # One that has not begun is busy with another question, and would find nothing to do.
        return None if helping is None or helping.cancel() else helping.result()
