"""Limits in the memory of one process."""

from __future__ import annotations

from itertools import count

from vr_kernel.state.limits import Used

from vr_testing.memory_state.ledger import MemoryLeases


class MemoryLimits:
    """Amounts that all may use together; see `vr_kernel.state.LimitTable`."""

    def __init__(self, leases: MemoryLeases) -> None:
        self._leases = leases
        self._numbers = count(1)
        self._reserved: dict[int, tuple[str, float, int]] = {}
        self._settled: dict[int, tuple[str, float]] = {}

    async def reserve(self, name: str, amount: float, cap: float, token: int) -> int | None:
        """Reserve an amount: the reservation, or None when used and reserved would pass `cap`."""
        if sum(await self.used(name)) + amount > cap:
            return None
        number = next(self._numbers)
        self._reserved[number] = (name, amount, token)
        return number

    async def settle(self, reservation: int, name: str, amount: float) -> None:
        """End a reservation, and count what was used of it; once, however often it is settled."""
        self._reserved.pop(reservation, None)
        self._settled.setdefault(reservation, (name, amount))

    async def used(self, name: str) -> Used:
        """The amounts of a limit, without reservations of the dead."""
        settled = [amount for known, amount in self._settled.values() if known == name]
        reserved = [it[1] for it in self._reserved.values() if it[0] == name and self._lives(it[2])]
        return Used(sum(settled), sum(reserved))

    async def forget(self, name: str) -> None:
        """Remove a limit, such as that of a day that is over."""
        self._settled = {k: it for k, it in self._settled.items() if it[0] != name}
        self._reserved = {k: it for k, it in self._reserved.items() if it[0] != name}

    def _lives(self, token: int) -> bool:
        return self._leases.owns(token)
