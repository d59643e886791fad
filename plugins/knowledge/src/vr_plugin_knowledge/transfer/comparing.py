"""Compares a store with the journal: counts and checksums, kind by kind."""

from __future__ import annotations

import asyncio
import hashlib
import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from vr_kernel import Change, Kernel, StoredRecord

PAGE = 500
AT_ONCE = 16
"""Records per request to a store."""
NAMED_KEYS = 10
_MODULUS = 1 << 128


@dataclass(slots=True)
class Comparison:
    """One kind in one workspace: `store` is None where its plugin is not installed.

    The checksums are sums over a hash of key and fields of each record, so that the order does not
    matter; the store's covers what it has under the journal's keys.
    """

    workspace: str
    kind: str
    journal: int = 0
    store: int | None = None
    journal_sum: int = 0
    store_sum: int = 0
    differing: int = 0
    keys: list[str] = field(default_factory=list)
    same: bool = True

    def add(self, change: Change, stored: StoredRecord | None) -> None:
        """Count a record of the journal, and the store's version of it."""
        mine = _digest(change.key, _fields(change)) if change.fields is not None else 0
        theirs = _digest(stored.key, stored.fields) if stored is not None else 0
        self.journal += change.fields is not None
        self.journal_sum = (self.journal_sum + mine) % _MODULUS
        self.store_sum = (self.store_sum + theirs) % _MODULUS
        if mine != theirs:
            self.differing += 1
            self.keys += [change.key] if len(self.keys) < NAMED_KEYS else []


class Comparing:
    """Compares the store of a kernel with its journal, all workspaces, up to a moment.

    Later records are left out, and records are read a page at a time.

    Args:
        kernel: whose journal and store.
        upto: the sequence number up to which the store has the journal's changes.
        shared: whether the store may hold records of other journals.
        moved: is called with the number of compared sequence numbers.
    """

    def __init__(
        self, kernel: Kernel, upto: int, *, shared: bool, moved: Callable[[int], None]
    ) -> None:
        self._journal = kernel.services.journal
        self._store = kernel.services.archive.store
        self._kinds = kernel.services.archive.kinds
        self._upto = upto
        self._shared = shared
        self._moved = moved
        self._room = asyncio.Semaphore(AT_ONCE)
        here = kernel.config.store.workspace
        self._rows = {(here, kind): Comparison(here, kind) for kind in self._kinds}

    async def compare(self) -> list[Comparison]:
        """A row for each kind and workspace with records, sorted.

        Raises:
            VrError: as the store does when it cannot be asked.
        """
        after = 0
        while page := await self._journal.changes(after, PAGE):
            await self._compare([change for change in page if change.seq <= self._upto])
            before, after = after, min(page[-1].seq, self._upto)
            self._moved(after - before)
            if after == self._upto:
                break
        for row in self._rows.values():
            await self._conclude(row)
        found = [row for row in self._rows.values() if row.journal or row.store or not row.same]
        return sorted(found, key=lambda row: (row.workspace, row.kind))

    async def _compare(self, changes: Sequence[Change]) -> None:
        if self._shared:
            # A record deleted here may come from another journal again.
            changes = [change for change in changes if change.fields is not None]
        pairs = list(zip(changes, await asyncio.gather(*map(self._get, changes)), strict=True))
        if any(_differ(*pair) for pair in pairs):
            # A record that was written again since it was read is on a later page.
            again = await self._journal.changes(changes[0].seq - 1, len(changes))
            still = {change.seq for change in again}
            pairs = [pair for pair in pairs if pair[0].seq in still]
        for change, stored in pairs:
            place = (change.workspace, change.kind)
            self._rows.setdefault(place, Comparison(*place)).add(change, stored)

    async def _get(self, change: Change) -> StoredRecord | None:
        if change.kind not in self._kinds:
            return None
        async with self._room:
            return await self._store.get(change.kind, change.key, change.workspace)

    async def _conclude(self, row: Comparison) -> None:
        if row.kind not in self._kinds:
            row.differing, row.keys = 0, []
            return
        row.store = sum((await self._store.count(row.kind, row.workspace)).values())
        counts = row.store >= row.journal if self._shared else row.store == row.journal
        quiet = not await self._journal.count(self._upto)
        row.same = not row.differing and row.journal_sum == row.store_sum and (counts or not quiet)


def _differ(change: Change, stored: StoredRecord | None) -> bool:
    if change.fields is None or stored is None:
        return (change.fields is None) != (stored is None)
    return _digest(change.key, _fields(change)) != _digest(stored.key, stored.fields)


def _fields(change: Change) -> dict[str, Any]:
    """The fields as stores keep them: a record without a time of creation gets one there."""
    fields = dict(change.fields or {})
    fields.setdefault("created_at", change.created_at)
    return fields


def _digest(key: str, fields: Mapping[str, Any]) -> int:
    text = json.dumps([key, fields], sort_keys=True)
    return int.from_bytes(hashlib.sha256(text.encode()).digest()[:16], "big")
