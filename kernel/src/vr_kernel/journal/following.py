"""A store that knows which journal it follows."""

from __future__ import annotations

from typing import Protocol

from vr_kernel.journal.lineage import Position
from vr_kernel.providers import Store


class FollowingStore(Store, Protocol):
    """A store that knows the journal it follows, so that the loss of the journal is noticed.

    With its cursor it keeps the opening of the last change, `Change.opening`, and the identity of
    the journal that it follows. Of another journal that it followed before it keeps both, too.
    """

    async def positions(self) -> list[Position]:
        """How far it has come: with the journal that it follows, then with each other one.

        The journal's name is empty for a cursor that a version before kept without.
        """

    async def follow(self, position: Position) -> None:
        """Follow that journal, from there on. What it has of others stays, and is kept in mind."""

    async def restart(self, journal: str, *, empty: bool) -> None:
        """Follow that journal from its beginning, and keep no other in mind.

        With `empty` it holds nothing then, where nobody else keeps records in it.
        """
