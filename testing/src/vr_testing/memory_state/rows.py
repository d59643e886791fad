"""Rows in the memory of one process."""

from __future__ import annotations

import asyncio
import json
import time
from collections.abc import Callable
from itertools import count, islice
from typing import Any, TypeAlias

from vr_kernel.state import Delete, Place, Put, Row, RowChange
from vr_kernel.state.row_checks import changed, check_changes, check_key, check_list, check_place

_Found: TypeAlias = list[Row]


class MemoryRows:
    """The rows of all places in memory; see `vr_kernel.state.RowSpace`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch."""
        self.clock = clock
        self.versions = count(1)
        self.kept: dict[Place, dict[str, Row]] = {}

    def of(self, place: Place) -> MemoryRowsOfPlace:
        """Return the rows of one place."""
        return MemoryRowsOfPlace(check_place(place), self)


class MemoryRowsOfPlace:
    """The rows of one place; see `vr_kernel.state.Rows`."""

    def __init__(self, place: Place, space: MemoryRows) -> None:
        self._place = place
        self._space = space

    def within(self, workspace: str = "", principal: str = "") -> MemoryRowsOfPlace:
        """Return the rows of the same namespace in another workspace, for another principal."""
        return self._space.of(Place(self._place.namespace, workspace, principal))

    left_out = 0

    async def get(self, key: str) -> Row | None:
        """Return a row; None when it is missing or expired."""
        return self._live().get(check_key(key))

    async def list(self, prefix: str = "", *, after: str = "", limit: int = 1000) -> _Found:
        """List rows whose key begins with `prefix` and lies behind `after`, sorted by key."""
        most = check_list(prefix, after, limit)
        rows = self._live()
        found = (rows[key] for key in sorted(rows) if key.startswith(prefix) and key > after)
        return [*islice(found, most)]

    async def put(
        self,
        key: str,
        value: Any,
        *,
        expected: int | None = None,
        expires_at: float | None = None,
    ) -> Row:
        """Write one row and return it."""
        return (await self.write(Put(key, value, expected, expires_at)))[0]

    async def delete(self, key: str, *, expected: int | None = None) -> bool:
        """Delete one row; False when there was none."""
        known = check_key(key) in self._live()
        await self.write(Delete(key, expected))
        return known

    async def write(self, *changes: RowChange, paid: bool = False) -> _Found:
        """Do all changes or none, and return the rows that were put, in order."""
        del paid
        work = check_changes(changes)
        await asyncio.sleep(0)  # others come first, as they may where there is a file
        rows = self._live()
        for change in changes:
            version = rows[change.key].version if change.key in rows else 0
            if change.expected not in (None, version):
                raise changed(change.key)
        found = []
        for change, text in work:
            if isinstance(change, Put):
                row = Row(
                    change.key, json.loads(text), next(self._space.versions), change.expires_at
                )
                rows[change.key] = row
                found.append(row)
            else:
                gone = [key for key in rows if key.startswith(change.key)]
                for key in gone if change.below else [change.key]:
                    rows.pop(key, None)
        self._space.kept[self._place] = rows
        return found

    def _live(self) -> dict[str, Row]:
        now = self._space.clock()
        kept = self._space.kept.get(self._place, {})
        return {k: row for k, row in kept.items() if row.expires_at is None or now < row.expires_at}
