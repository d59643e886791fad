"""Work in pieces that two threads take in turn."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Executor, Future

FEW = 2
"""So many pieces are done before another thread would have begun."""


class Pieces:
    """Pieces of work, each done once, by whoever comes first.

    Args:
        pieces: what is to be done, in any order and in any thread.
        helper: begins at once; whoever calls `finish` joins in.
    """

    def __init__(self, pieces: Iterable[Callable[[], None]], helper: Executor) -> None:
        self._left = deque(pieces)
        self._helping: Future[None] | None = None
        if len(self._left) > FEW:
            self._helping = helper.submit(self._work_off)

    def finish(self) -> None:
        """Return when all is done."""
        self._work_off()
        self._await_helper()

    def abandon(self) -> None:
        """Return when nobody is at work any more, whatever is left."""
        self._left.clear()
        self._await_helper()

    def _work_off(self) -> None:
        while True:
            try:
                piece = self._left.popleft()
            except IndexError:
                return
            piece()

    def _await_helper(self) -> None:
        helping, self._helping = self._helping, None
        # One that has not begun is busy with another question, and would find nothing to do.
        if helping is not None and not helping.cancel():
            helping.result()
