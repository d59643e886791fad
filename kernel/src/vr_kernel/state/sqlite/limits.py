"""Limits in a SQLite file."""

from __future__ import annotations

import sqlite3

from vr_kernel.state.limits import Used
from vr_kernel.storage.kept_database import KeptDatabase

_SETTLED, _RESERVED = "settled", "reserved"


class SqliteLimits:
    """The limits in the ledger; see `LimitTable`."""

    def __init__(self, database: KeptDatabase) -> None:
        self._database = database

    async def reserve(self, name: str, amount: float, cap: float, token: int) -> int | None:
        """Reserve an amount: the reservation, or None when used and reserved would pass `cap`."""

        def write(connection: sqlite3.Connection) -> int | None:
            connection.execute(
                "DELETE FROM amount WHERE state = 'reserved'"
                " AND token NOT IN (SELECT token FROM lease)"
            )
            if sum(_used(connection, name)) + amount > cap:
                return None
            row = (name, _RESERVED, amount, token)
            added = connection.execute(
                "INSERT INTO amount (name, state, amount, token) VALUES (?,?,?,?)", row
            )
            return added.lastrowid

        return await self._database.run(write)

    async def settle(self, reservation: int, name: str, amount: float) -> None:
        """End a reservation, and count what was used of it; once, however often it is settled."""

        def write(connection: sqlite3.Connection) -> None:
            # A reservation whose owner seemed dead may be gone; what was used counts all the same.
            connection.execute(
                "INSERT INTO amount (id, name, state, amount) VALUES (?,?,?,?)"
                " ON CONFLICT (id) DO UPDATE SET state = excluded.state, amount = excluded.amount"
                " WHERE state = 'reserved'",
                (reservation, name, _SETTLED, amount),
            )

        await self._database.keep(write, None)

    async def used(self, name: str) -> Used:
        """The amounts of a limit, without reservations of the dead."""
        return await self._database.look(lambda connection: _used(connection, name))

    async def forget(self, name: str) -> None:
        """Remove a limit, such as that of a day that is over."""

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM amount WHERE name = ?", (name,))

        await self._database.run(delete)


def _used(connection: sqlite3.Connection, name: str) -> Used:
    sums = dict(
        connection.execute(
            "SELECT state, sum(amount) FROM amount WHERE name = ? AND (state = 'settled'"
            " OR token IN (SELECT token FROM lease)) GROUP BY state",
            (name,),
        ).fetchall()
    )
    return Used(sums.get(_SETTLED, 0.0), sums.get(_RESERVED, 0.0))
