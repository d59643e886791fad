"""`knowledge_stats`: what the store holds."""

from __future__ import annotations

from vr_kernel import IDEMPOTENT, READ_ONLY, Call, Code, RecordKind, VrError, did_you_mean, tool

from vr_plugin_knowledge.arguments import OptionalName
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.excerpts import cut
from vr_plugin_knowledge.freshness import catch_up
from vr_plugin_knowledge.matching.facets import groupable
from vr_plugin_knowledge.orphans import read_kept
from vr_plugin_knowledge.results import CollectionCount, KnowledgeStats

ALL_GROUPS = 100
"""Most groups that one result lists, in all collections together."""
LABEL_CHARS = 60
OTHERS = "(others)"


@tool(effects=READ_ONLY | IDEMPOTENT)
async def knowledge_stats(
    call: Call,
    collection: OptionalName = None,
    group_by: OptionalName = None,
) -> KnowledgeStats:
    """Count records per collection, or by the values of a field."""
    kinds = find_kinds(call.services.kinds, [collection] if collection else None)
    grouped = {kind.name for kind in _grouped(kinds, group_by)}
    notes: list[str] = []
    pending = await catch_up(call, notes)
    there = pending is not None
    shown = max(1, ALL_GROUPS // max(1, len(grouped)))
    counts = [
        await _count(call, kind, group_by if kind.name in grouped else None, shown)
        for kind in (kinds if there else ())
    ]
    # Only the owner may know how far the store is with everybody's records.
    readable = await call.services.journal.continuity.is_readable()
    whole = there and readable and call.services.identity.is_owner
    status = await call.services.store.status() if whole else None
    refused = status.refused if status else 0
    if refused:
        notes.append(f"{refused} records were refused by the store: vr store failed")
    if whole and (left_out := call.services.journal.left_out):
        notes.append(f"Damaged records of the journal that are left out: {left_out}. See vr doctor")
    listed = collection is None and readable
    kept = await read_kept(call.services, call.workspace) if listed else []
    vectors = call.services.vectors
    return KnowledgeStats(
        collections=counts,
        kept=kept,
        total=sum(count.count for count in counts),
        pending=pending or 0,
        pending_vectors=status.pending_vectors if status else 0,
        refused=refused,
        backend=call.services.store.name,
        embedder=vectors.embedder_id if vectors.available() else "",
        notes=notes,
    )


def _grouped(kinds: list[RecordKind], field: str | None) -> list[RecordKind]:
    if field is None:
        return []
    if len(kinds) == 1:
        groupable(kinds[0], field)
        return kinds
    known = {f.name for kind in kinds for f in kind.all_fields if f.filterable}
    if field not in known:
        raise VrError(
            f"No collection can be grouped by {field!r}.",
            Code.INVALID_INPUT,
            hint=f"{did_you_mean(field, known)}Fields: {', '.join(sorted(known))}.",
        )
    return [k for k in kinds if any(f.name == field and f.filterable for f in k.all_fields)]


async def _count(call: Call, kind: RecordKind, group_by: str | None, shown: int) -> CollectionCount:
    store = call.services.store
    count = sum((await store.count(kind.name, call.workspace)).values())
    if group_by is None:
        return CollectionCount(collection=kind.name, count=count)
    found = list((await store.count(kind.name, call.workspace, group_by)).items())
    groups = {str(cut(label, LABEL_CHARS)): number for label, number in found[:shown]}
    if rest := sum(number for _, number in found[shown:]):
        groups[OTHERS] = rest
    return CollectionCount(collection=kind.name, count=count, groups=groups)
