"""Continuity of a journal in memory."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING
from uuid import uuid4

from vr_kernel import Position, VrError

if TYPE_CHECKING:
    from vr_kernel.journal import Loss
    from vr_kernel.state import JournalTable

OPENING = "memory"
"""Names the only opening of such a journal."""


class MemoryContinuity:
    """Says that nothing is lacking: what is lost in memory is lost with its program."""

    def __init__(self, table: JournalTable) -> None:
        self._table = table
        self.loss: Loss | None = None
        self.refusal: VrError | None = None
        self.journal = str(uuid4())
        self.followed = ""
        self.told = False

    async def is_readable(self) -> bool:
        """Return True."""
        return True

    async def lacks(self, *, owner: bool = True) -> str:
        """Return no note."""
        del owner
        return ""

    async def look(self) -> Loss | None:
        """Return None."""
        return None

    async def attended(self) -> Position:
        """The position of the journal."""
        last = await self._table.last_seq()
        return Position(self.journal, OPENING if last else "", last)

    async def begun(self) -> int:
        """The number after which the journal has its identity: 0."""
        return 0

    async def covers(self, position: Position) -> bool:
        """Return True if this journal gave out that number."""
        return position.journal == self.journal and position.seq <= await self._table.last_seq()

    async def lacks_any(self, positions: Iterable[Position]) -> bool:
        """Return False."""
        del positions
        return False

    async def missing(self, held: Sequence[Position]) -> int:
        """Return 0."""
        del held
        return 0

    async def miss(self, found: Position) -> None:
        """Do nothing."""

    async def hear(self, positions: Iterable[Position]) -> None:
        """Do nothing."""

    async def diverge(self, found: Position, *, begun: bool = False) -> Position:
        """Go on above a number that a store knows and that was never given out here."""
        del begun
        await self._table.continue_after(found.seq)
        return await self.attended()

    async def accept(self) -> None:
        """Do nothing."""
