"""Finds records of the journal to delete: by id, by source, by age."""

from __future__ import annotations

import asyncio
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from typing import Any

from vr_kernel import Change, Code, RecordKind, Services, StoredRecord, VrError

from vr_plugin_knowledge.excerpts import cut, value_of
from vr_plugin_knowledge.graph.identity import CONCEPTS, EDGES
from vr_plugin_knowledge.results import CollectionCount, ForgottenRecord
from vr_plugin_knowledge.search.filters import read_moment

MOST = 10_000
"""Records that one call deletes, the oldest first."""
SHORT, WHOLE = 8, 36
"""Characters of an id as lists show it, and of a whole one."""
EXAMPLES = 5
TITLE_CHARS = 80
SOURCES = ("source", "source_url", "video_id")
"""Fields that name where a record is from, besides those that its kind names."""
_DAYS = re.compile(r"(\d{1,5})d")


@dataclass(frozen=True, slots=True)
class Choice:
    """A choice of records: those that fit all given criteria.

    Args:
        workspace: of the records.
        kinds: the known collections, for their sources.
        kind: a collection; all when left out, also those of missing plugins.
        keys: ids of records.
        source: value of a field that says where a record is from.
        before: ISO 8601, UTC; records made before that moment.
    """

    workspace: str
    kinds: Mapping[str, RecordKind]
    kind: str | None = None
    keys: frozenset[str] | None = None
    source: str | None = None
    before: str | None = None

    def fits(self, change: Change) -> bool:
        """True when a record is chosen."""
        if change.fields is None or change.workspace != self.workspace:
            return False
        return (
            self.kind in (None, change.kind)
            and (self.keys is None or change.key in self.keys)
            and (self.source is None or self._is_from(change))
            and (self.before is None or created_at(change) < self.before)
        )

    def _is_from(self, change: Change) -> bool:
        # A concept has many sources; it is deleted with the last record that it cites.
        if change.kind in (CONCEPTS, EDGES) and self.kind is None:
            return False
        return self.source in self._sources(change)

    def _sources(self, change: Change) -> set[Any]:
        kind = self.kinds.get(change.kind)
        own = (kind.source, kind.link) if kind else ()
        fields = change.fields or {}
        values = [fields.get(name) for name in {*SOURCES, *own} if name]
        return {value for value in values if isinstance(value, str)}


@dataclass(slots=True)
class Finds:
    """Records that were found, at most `MOST`, and the number of others that fit."""

    records: list[tuple[str, str]] = field(default_factory=list)
    counts: Counter[str] = field(default_factory=Counter)
    examples: list[ForgottenRecord] = field(default_factory=list)
    remaining: int = 0

    def add(self, change: Change, kind: RecordKind | None) -> None:
        """Add a record."""
        if len(self.records) >= MOST:
            self.remaining += 1
            return
        self.records.append((change.kind, change.key))
        self.counts[change.kind] += 1
        if len(self.examples) < EXAMPLES:
            self.examples.append(_example(change, kind))

    @property
    def collections(self) -> list[CollectionCount]:
        """Count by collection, most first."""
        return [CollectionCount(collection=k, count=n) for k, n in self.counts.most_common()]


async def find_records(services: Services, choice: Choice) -> Finds:
    """Search the journal, which has all that stores have, and undelivered changes."""
    finds, seq = Finds(), 0
    kinds, place = [choice.kind] if choice.kind else (), choice.workspace
    while changes := await services.journal.changes(seq, kinds=kinds, workspace=place):
        for change in changes:
            if choice.fits(change):
                finds.add(change, services.kinds.get(change.kind))
        seq = changes[-1].seq
    return finds


async def find_parts(services: Services, workspace: str, finds: Finds) -> None:
    """Add the records that are parts of those that were found, such as the claims of a report."""
    kinds = {it.name: it.part_of for it in services.kinds.values() if it.part_of}
    wholes, seq = {key for _, key in finds.records}, 0
    known = set(finds.records)
    while wholes and kinds:
        changes = await services.journal.changes(seq, kinds=[*kinds], workspace=workspace)
        if not changes:
            return
        for change in changes:
            whole = (change.fields or {}).get(kinds[change.kind] or "")
            if whole in wholes and (change.kind, change.key) not in known:
                finds.add(change, services.kinds[change.kind])
        seq = changes[-1].seq


async def full_keys(
    services: Services, workspace: str, ids: Sequence[str], kind: str | None
) -> list[str]:
    """The keys of records by their ids, each alone, behind its kind, or as a begin of eight signs.

    What names no record stays as it is.

    Raises:
        VrError: INVALID_INPUT, category ID_AMBIGUOUS, when several ids begin so.
    """
    found = []
    for each in ids:
        named, _, rest = each.strip().rpartition("/")
        if named not in services.kinds:
            found.append(await _full_key(services, workspace, each.strip(), kind))
            continue
        key = await _full_key(services, workspace, rest, named)
        # The key of another kind is no record of the kind that was named: nothing is deleted.
        found.append(key if key in await services.journal.keys(named, workspace) else each)
    return found


async def _full_key(services: Services, workspace: str, key: str, kind: str | None) -> str:
    if not SHORT <= len(key) < WHOLE:
        return key
    fitting: dict[str, None] = {}
    for name in [kind] if kind else services.kinds:
        for each in await services.journal.keys(name, workspace):
            if each == key:
                return key
            if each.startswith(key):
                fitting[each] = None
    if len(fitting) > 1:
        raise VrError(
            f"{len(fitting)} ids begin with {key!r}.",
            Code.INVALID_INPUT,
            category="ID_AMBIGUOUS",
            hint=f"Give more of it: {', '.join([*fitting][:5])}",
        )
    return next(iter(fitting), key)


async def find_shared(services: Services, choice: Choice, finds: Finds) -> int:
    """Add records asked for by id that only the store has: other machines may fill it, too.

    Returns how many were added.

    Raises:
        VrError: what the store says when it cannot be asked.
    """
    names = [choice.kind] if choice.kind else list(services.kinds)
    before = len(finds.records)
    for key in sorted((choice.keys or frozenset()) - {key for _, key in finds.records}):
        found = await asyncio.gather(
            *(services.store.get(name, key, choice.workspace) for name in names)
        )
        for change in [_as_change(record, choice.workspace) for record in found if record]:
            if choice.fits(change):
                finds.add(change, services.kinds.get(change.kind))
    return len(finds.records) - before


def created_at(change: Change) -> str:
    """The moment at which a record was made, as ISO 8601 in UTC."""
    return str((change.fields or {}).get("created_at", change.created_at))


def read_age(text: str | None) -> str | None:
    """The moment before which records are older than `2026-01-31`, or than `90d`: 90 days.

    Raises:
        VrError: INVALID_INPUT for what is neither a date nor a number of days.
    """
    if text is None:
        return None
    if days := _DAYS.fullmatch(text.strip()):
        moment = datetime.now(UTC) - timedelta(days=int(days[1]))
    else:
        moment = read_moment("older_than", text)
    return moment.isoformat(timespec="microseconds")


def require_criterion(*given: object) -> None:
    """Refuse to delete everything.

    Raises:
        VrError: INVALID_INPUT when no criterion is given.
    """
    if not any(given):
        raise VrError(
            "Nothing says which records are meant.",
            Code.INVALID_INPUT,
            hint="Give object_ids, source or older_than.",
        )


def _example(change: Change, kind: RecordKind | None) -> ForgottenRecord:
    fields = change.fields or {}
    texts = [kind.search_text(fields)] if kind else [v for v in fields.values() if _is_text(v)]
    title = next(iter(texts), "")
    return ForgottenRecord(
        collection=change.kind,
        object_id=change.key,
        created_at=created_at(change),
        source=value_of(fields, kind.source) if kind else None,
        title=cut(" ".join(title[: 2 * TITLE_CHARS].split()), TITLE_CHARS),
    )


def _as_change(record: StoredRecord, workspace: str) -> Change:
    """A record as if it stood in the journal."""
    fields, provenance = dict(record.fields), dict(record.provenance)
    made = str(fields.get("created_at", ""))
    return Change(0, workspace, record.kind, record.key, fields, provenance, made)


def _is_text(value: Any) -> bool:
    return isinstance(value, str)
