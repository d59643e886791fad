"""Claims of the records to compare: the newest of a workspace, or those that a search finds."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Mapping, Sequence

from vr_kernel import Call, Change, Query, RecordKind, StoredRecord

from vr_plugin_knowledge.conflicts.statements import Statement, read_statements, stating_fields
from vr_plugin_knowledge.freshness import catch_up
from vr_plugin_knowledge.graph.identity import CONCEPTS

MOST_CLAIMS = 5_000
MOST_HITS = 100
"""Records of each collection that a search gives."""
WINDOW, PAGE = 2_000, 500
"""Numbers of the journal that are read at first, backwards, and changes of one reading."""


def stating_kinds(
    kinds: Sequence[RecordKind], named: Sequence[str] | None, notes: list[str]
) -> list[RecordKind]:
    """The kinds whose records state claims; unless they are named, those that models wrote.

    A concept's description says of what only together with its name, so it is compared only when
    it is asked for.
    """
    if named is None:
        kinds = [kind for kind in kinds if kind.derived and kind.name != CONCEPTS]
    stating = [kind for kind in kinds if stating_fields(kind)]
    if named and (silent := [kind.name for kind in kinds if kind not in stating]):
        notes.append(f"No field of these collections states claims: {', '.join(silent)}.")
    return stating


async def gather_newest(
    call: Call, kinds: Sequence[RecordKind], notes: list[str]
) -> list[Statement]:
    """The claims of the newest records."""
    if lacking := await call.services.journal.continuity.lacks(
        owner=call.services.identity.is_owner
    ):
        notes.append(lacking)
    by_name = {kind.name: kind for kind in kinds}
    found: list[Statement] = []
    async for changes in _newest_first(call, by_name):
        found += await asyncio.to_thread(_read_changes, by_name, changes)
        if len(found) > MOST_CLAIMS:
            return _bounded(found, notes)
    return found


async def gather_found(
    call: Call, query: str, kinds: Sequence[RecordKind], notes: list[str]
) -> list[Statement]:
    """The claims of the records that have words of a query, the best hits first.

    Raises:
        VrError: UNAVAILABLE when the store cannot be asked.
    """
    if await catch_up(call, notes) is None or not kinds:
        return []
    names = tuple(kind.name for kind in kinds)
    asked = Query(query, None, "keyword", 0, names, (), MOST_HITS, call.workspace)
    hits = await call.services.store.search(asked)
    records = {(hit.record.kind, hit.record.key): hit.record for hit in hits}
    by_name = {kind.name: kind for kind in kinds}
    if any(sum(kind == name for kind, _ in records) == MOST_HITS for name in names):
        notes.append(f"Of each collection the best {MOST_HITS} records were compared.")
    found = await asyncio.to_thread(_read_records, by_name, list(records.values()))
    return _bounded(found, notes) if len(found) > MOST_CLAIMS else found


async def _newest_first(call: Call, kinds: Mapping[str, RecordKind]) -> AsyncIterator[list[Change]]:
    """The changes of some kinds in ever longer stretches of the journal, from its end."""
    journal, width = call.services.journal, WINDOW
    end = await journal.last_seq() if kinds else 0
    while end > 0:
        start, read = max(0, end - width), list[Change]()
        after = start
        while page := await journal.changes(after, PAGE, tuple(kinds), call.workspace):
            read += (change for change in page if change.seq <= end)
            after = page[-1].seq
            if after >= end:
                break
        yield read[::-1]
        end, width = start, 2 * width


def _read_changes(kinds: Mapping[str, RecordKind], changes: Sequence[Change]) -> list[Statement]:
    return [
        claim
        for change in changes
        if change.fields is not None
        for claim in read_statements(
            kinds[change.kind],
            StoredRecord(change.kind, change.key, change.fields, change.provenance),
            str(change.fields.get("created_at") or change.created_at),
        )
    ]


def _read_records(
    kinds: Mapping[str, RecordKind], records: Sequence[StoredRecord]
) -> list[Statement]:
    return [
        claim
        for record in records
        for claim in read_statements(
            kinds[record.kind], record, str(record.fields.get("created_at") or "")
        )
    ]


def _bounded(claims: list[Statement], notes: list[str]) -> list[Statement]:
    notes.append(
        f"Only {MOST_CLAIMS:,} claims were compared, of the newest records or best hits: narrow it"
        " by query or collections."
    )
    return claims[:MOST_CLAIMS]
