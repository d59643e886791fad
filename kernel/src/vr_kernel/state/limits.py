"""Limits: amounts that all who share a state may use together, such as a budget of a day."""

from __future__ import annotations

from typing import NamedTuple, Protocol


class Used(NamedTuple):
    """The amount of a limit that is used up, and the amount that is reserved besides."""

    settled: float
    reserved: float


class LimitTable(Protocol):
    """Reserved and used amounts by name. A limit is never passed, whoever reserves at once.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.
    """

    async def reserve(self, name: str, amount: float, cap: float, token: int) -> int | None:
        """Reserve an amount: the reservation, or None when used and reserved would pass `cap`.

        It is given back when it is settled, or when the lease of `token` is gone.

        Args:
            name: of the limit, with its day or hour where it has one.
            amount: the most that may be used.
            cap: the most that all together may use; not kept, so that it can be changed.
            token: of a lease of the owner.
        """

    async def settle(self, reservation: int, name: str, amount: float) -> None:
        """End a reservation, and count what was used of it; once, however often it is settled."""

    async def used(self, name: str) -> Used:
        """The amounts of a limit, without reservations of the dead."""

    async def forget(self, name: str) -> None:
        """Remove a limit, such as that of a day that is over."""
