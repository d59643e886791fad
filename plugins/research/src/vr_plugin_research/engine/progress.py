"""Progress of a piece of research in words: phase, sources, cost so far, time left."""

from __future__ import annotations

import time
from collections.abc import Callable

from vr_kernel import Call

from vr_plugin_research.engine.spending import Spending
from vr_plugin_research.views.parts import counted

Clock = Callable[[], float]
OTHER = 3
"""Steps besides the sources: plan, searches, report."""


class ResearchProgress:
    """Reports how far one piece of research is.

    Args:
        call: that reports.
        spending: tells the cost so far.
        rounds: that there may be.
        sources: that may be read.
        clock: seconds, for the time that is left.
    """

    def __init__(
        self,
        call: Call,
        spending: Spending,
        rounds: int,
        sources: int,
        clock: Clock = time.monotonic,
    ) -> None:
        self._call = call
        self._spending = spending
        self._rounds = rounds
        self._sources = sources
        self._clock = clock
        self._read = 0
        self._round = 0
        self._begun: float | None = None

    def planning(self) -> None:
        """The questions are being found."""
        self._tell(0, "Planning: what has to be answered")

    def searching(self, number: int, searches: int) -> None:
        """A round begins with so many searches."""
        self._round = number
        self._tell(1 + self._read, f"{self._where}: {counted(searches, 'search', 'searches')}")

    def reading(self, done: int, total: int, title: str) -> None:
        """So many sources of this round are read."""
        if self._begun is None:
            self._begun = self._clock()
        said = f"{self._where}: read {done} of {total} sources, {title[:60]}"
        self._tell(2 + self._read + done, said + self._left(done, total))
        if done == total:
            self._read += total
            self._begun = None

    def writing(self, findings: int) -> None:
        """The report is being written."""
        self._tell(self._sources + 2, f"Writing the report of {counted(findings, 'finding')}")

    @property
    def _where(self) -> str:
        return f"Round {self._round} of {self._rounds}"

    def _left(self, done: int, total: int) -> str:
        """The time that the rest of a round takes, by what the others took."""
        if not done or done == total or self._begun is None:
            return ""
        seconds = (self._clock() - self._begun) / done * (total - done)
        return f", about {seconds:.0f} s left" if seconds >= 1 else ""

    def _tell(self, done: float, message: str) -> None:
        cost = self._spending.words
        said = f"{message} ({cost} so far)" if cost else message
        self._call.progress(min(done, self._sources + OTHER), self._sources + OTHER, said)
