"""The journal in memory."""

from __future__ import annotations

import asyncio
import json
from collections import Counter
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from datetime import UTC, datetime
from operator import attrgetter
from pathlib import Path
from typing import Any, TypeAlias

from vr_kernel import Change, RecordKind, Source, StoredRecord
from vr_kernel.journal import Undeclared
from vr_kernel.state.entries import Entry, merge_fields, require_names, says_the_same
from vr_kernel.state.leases import fenced_off
from vr_kernel.state.pins import Pin, named_in

from vr_testing.memory_state.continuity import OPENING, MemoryContinuity
from vr_testing.memory_state.sources import MemorySources

_Place: TypeAlias = tuple[str, str, str]


class MemoryJournal:
    """A journal that is gone with its program; see `JournalTable`."""

    def __init__(self, owns: Callable[[int | None], bool] = lambda _token: True) -> None:
        """`owns` says if the lease of a token is there."""
        self._owns = owns
        self.folder: Path | None = None
        self.left_out = 0
        self.unwritable = False
        self.continuity = MemoryContinuity(self)
        self._last = 0
        self._records: dict[_Place, Change] = {}
        self._former: dict[tuple[_Place, str], Change] = {}
        self._folded: set[str] = set()
        self._pinning: dict[str, set[str]] = {}
        self._sources = MemorySources(self._live)

    def declare(self, kinds: Collection[RecordKind]) -> None:
        """Learn which fields of these kinds name a record's source, its title, its artifacts."""
        self._sources.declare(kinds)
        for kind in kinds:
            if kind.pins is not None:
                self._pinning.setdefault(kind.name, set()).add(kind.pins)

    def holds(self, when_written: Callable[[], object]) -> bool:
        """Return False: nothing waits."""
        del when_written
        return False

    async def commit(
        self,
        entries: Sequence[Entry],
        *,
        workspace: str,
        provenance: Mapping[str, Any],
        paid: bool = False,
        fence: int | None = None,
    ) -> int:
        """Write all entries or none, and return the highest sequence number."""
        del paid
        require_names(workspace, entries)
        now = _now()
        changes = [
            Change(
                0,
                workspace,
                entry.kind,
                entry.key,
                None if entry.fields is None else _copied(entry.fields),
                _copied({**entry.provenance, **provenance}),
                now,
                OPENING,
            )
            for entry in entries
        ]
        await asyncio.sleep(0)  # others come first, as they may where there is a file
        if not self._owns(fence):
            raise fenced_off()
        for entry, change in zip(entries, changes, strict=True):
            self._write(entry, change)
        return self._last

    async def check(self) -> None:
        """Do nothing: records can be written."""

    async def changes(
        self,
        after: int,
        limit: int = 500,
        kinds: Collection[str] = (),
        workspace: str | None = None,
    ) -> list[Change]:
        """Up to `limit` changes with a sequence number above `after`, rising."""
        found = [
            change
            for change in self._records.values()
            if change.seq > after
            and (not kinds or change.kind in kinds)
            and workspace in (None, change.workspace)
        ]
        return sorted(found, key=attrgetter("seq"))[:limit]

    async def keys(self, kind: str, workspace: str) -> list[str]:
        """The keys of all records of a kind, sorted."""
        return sorted(it.key for it in self._live() if (it.kind, it.workspace) == (kind, workspace))

    async def has(self, workspace: str, records: Collection[tuple[str, str]]) -> bool:
        """Return True when all of these records, as kind and key, exist and none is deleted."""
        there = {(it.kind, it.key) for it in self._live() if it.workspace == workspace}
        return there.issuperset(records)

    async def former(self, workspace: str, kind: str, key: str) -> list[Change]:
        """Former versions of a record, the latest first."""
        place = (workspace, kind, key)
        found = (change for (of, _), change in self._former.items() if of == place)
        return sorted(found, key=attrgetter("created_at"), reverse=True)

    async def forget_former(self, workspace: str, before: str, kind: str | None = None) -> int:
        """Delete former versions made before that moment, of one kind or all; returns how many."""
        gone = [
            version
            for version in self._former
            if version[0][0] == workspace and version[1] < before and kind in (None, version[0][1])
        ]
        for version in gone:
            del self._former[version]
        return len(gone)

    async def fold(self, kinds: Sequence[RecordKind]) -> None:
        """Move records that were kept one by one under the key of their subject."""
        for kind in kinds:
            if kind.history and kind.name not in self._folded:
                self._fold(kind)
                self._folded.add(kind.name)

    async def touch(self, records: Sequence[tuple[str, str, str]]) -> None:
        """Give records, as workspace, kind and key, new sequence numbers."""
        for place in records:
            if place in self._records:
                self._put(self._records[place])

    async def continue_after(self, cursor: int) -> None:
        """Give every record a number above `cursor`."""
        if self._last < cursor:
            for place, change in self._records.items():
                self._records[place] = replace(change, seq=change.seq + cursor)
            self._last += cursor

    async def recover(self, workspace: str, records: Sequence[StoredRecord]) -> list[StoredRecord]:
        """Record unchanged what a store holds and the journal lacks; returns these records."""
        new = [it for it in records if (workspace, it.kind, it.key) not in self._records]
        for record in new:
            fields, origin = _copied(record.fields), _copied(record.provenance)
            at = str(fields.get("created_at", _now()))
            place = (workspace, record.kind, record.key)
            self._put(Change(0, *place, fields, origin, at, OPENING))
        return new

    async def record(self, workspace: str, kind: str, key: str) -> Change | None:
        """One record; None when there is none, or it is deleted."""
        found = self._records.get((workspace, kind, key))
        return None if found is None or found.fields is None else found

    async def sources(
        self, workspace: str, after: int | None = None, limit: int = 100, kind: str = ""
    ) -> list[Source]:
        """Up to `limit` sources of live records, the highest `seq` first."""
        found = self._sources.of_workspace(workspace)
        later = [it for it in found if after is None or it.seq < after]
        return [it for it in later if not kind or kind in it.kinds][: max(0, limit)]

    async def source(self, workspace: str, id: str) -> Source | None:  # noqa: A002 - the word for it
        """One source, by its id; None when no live record is about it."""
        return next((it for it in self._sources.of_workspace(workspace) if it.id == id), None)

    async def of_source(
        self,
        workspace: str,
        id: str,  # noqa: A002 - the word for it
        after: int = 0,
        limit: int = 500,
    ) -> list[Change]:
        """Up to `limit` live records about a source with a number above `after`, rising."""
        found = self._sources.records(workspace).get(id, [])
        return [it for it in found if it.seq > after][: max(0, limit)]

    async def pins(self) -> set[Pin]:
        """The artifacts that live records need, of all workspaces."""
        return {
            Pin(change.workspace, name)
            for change in self._live()
            for name in named_in(change.fields or {}, self._pinning.get(change.kind, ()))
        }

    async def undeclared(self, workspace: str, kinds: Collection[str]) -> list[Undeclared]:
        """Count the records of kinds that are not among these."""
        plugins: dict[str, Counter[str]] = {}
        for change in self._live():
            if change.workspace == workspace and change.kind not in kinds:
                counts = plugins.setdefault(change.kind, Counter())
                counts[str(change.provenance.get("plugin", ""))] += 1
        return [
            Undeclared(kind, counts.total(), tuple(name for name, _ in counts.most_common()))
            for kind, counts in sorted(plugins.items())
        ]

    async def elsewhere(self, workspace: str, kinds: Collection[str]) -> dict[str, int]:
        """Count the live records of each other workspace, of some kinds or of all."""
        found = [it for it in self._live() if not kinds or it.kind in kinds]
        counts = Counter(it.workspace for it in found if it.workspace != workspace)
        return dict(sorted(counts.items()))

    async def last_seq(self) -> int:
        """The highest sequence number given out, 0 for an empty journal."""
        return self._last

    async def count(self, after: int = 0) -> int:
        """Count the records and deletions with a sequence number above `after`."""
        return sum(change.seq > after for change in self._records.values())

    async def home(self) -> str:
        """A name for the place in which this journal was begun."""
        return f"memory/{self.continuity.journal}"

    async def aclose(self) -> None:
        """Do nothing: what is kept stays for other handles."""

    def _live(self) -> Iterator[Change]:
        return (change for change in self._records.values() if change.fields is not None)

    def _put(self, change: Change) -> None:
        self._last += 1
        place = (change.workspace, change.kind, change.key)
        self._records[place] = replace(change, seq=self._last, opening=OPENING)

    def _write(self, entry: Entry, change: Change) -> None:
        place = (change.workspace, change.kind, change.key)
        if change.fields is None:
            for version in [it for it in self._former if it[0] == place]:
                del self._former[version]
        elif entry.merge:
            known = self._records.get(place)
            given = merge_fields((known and known.fields) or {}, change.fields)
            change = replace(change, fields=given)
        if entry.history and change.fields is not None:
            self._put_newer(change)
        else:
            self._put(change)

    def _put_newer(self, change: Change) -> None:
        """Replace an older record, and keep it as a former version; keep an older new one so."""
        known = self._records.get((change.workspace, change.kind, change.key))
        if known is not None and known.fields:
            if _made_at(change) < _made_at(known):
                self._keep(change)
                return
            if not says_the_same(known.fields, change.fields or {}):
                self._keep(known)
        self._put(change)

    def _keep(self, change: Change) -> None:
        at = _made_at(change)
        place = (change.workspace, change.kind, change.key)
        self._former[place, at] = replace(change, seq=0, created_at=at, opening="")

    def _fold(self, kind: RecordKind) -> None:
        old = [it for it in self._live() if it.kind == kind.name]
        for change in sorted(old, key=attrgetter("created_at")):
            fields = {"created_at": change.created_at, **(change.fields or {})}
            key = kind.identify(change.fields or {})
            if key not in ("", change.key):
                self._put_newer(replace(change, key=key, fields=fields))
                self._put(replace(change, fields=None, created_at=_now()))


def _made_at(change: Change) -> str:
    return str((change.fields or {}).get("created_at", change.created_at))


def _now() -> str:
    return datetime.now(UTC).isoformat(timespec="microseconds")


def _copied(value: Mapping[str, Any]) -> dict[str, Any]:
    copy: dict[str, Any] = json.loads(json.dumps({**value}, ensure_ascii=False))
    return copy
