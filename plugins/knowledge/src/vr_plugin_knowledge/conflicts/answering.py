"""Answers of `knowledge_conflicts`: contradictions as a result that fits."""

from __future__ import annotations

import asyncio

from vr_kernel import Call

from vr_plugin_knowledge.arguments import OptionalNames
from vr_plugin_knowledge.catalogue import find_kinds
from vr_plugin_knowledge.conflicts.comparing import Comparison, Conflict, compare
from vr_plugin_knowledge.conflicts.gathering import gather_found, gather_newest, stating_kinds
from vr_plugin_knowledge.conflicts.statements import Statement
from vr_plugin_knowledge.results import (
    ConflictingClaim,
    ConflictKind,
    KnowledgeConflict,
    KnowledgeConflicts,
)
from vr_plugin_knowledge.search.pages import take_page

EXPLAINED: dict[ConflictKind, str] = {
    "number": "They give different numbers for the same.",
    "date": "They give different dates for the same.",
    "scope": "One denies what the other says.",
}
CUT = "Too many claims are alike: not all pairs were compared. Narrow it by query or collections."
NO_CLAIMS = "No claims are recorded there."


async def list_conflicts(
    call: Call, query: str | None, collections: OptionalNames, limit: int
) -> KnowledgeConflicts:
    """Compare the claims of records, and return those that contradict each other.

    Raises:
        VrError: INVALID_INPUT for an unknown collection.
    """
    notes: list[str] = []
    named = collections or None
    kinds = stating_kinds(find_kinds(call.services.kinds, named), named, notes)
    if query is None:
        claims = await gather_newest(call, kinds, notes)
    else:
        claims = await gather_found(call, query, kinds, notes)
    return _present(await asyncio.to_thread(compare, claims), limit, notes)


def _present(found: Comparison, limit: int, notes: list[str]) -> KnowledgeConflicts:
    shown = take_page(map(_as_result, found.conflicts[:limit]))
    if found.cut:
        notes.append(CUT)
    if left := len(found.conflicts) - len(shown):
        notes.append(f"Not shown: {left:,} more. Narrow it by query or collections.")
    if not found.compared:
        notes.append(NO_CLAIMS)
    return KnowledgeConflicts(conflicts=shown, compared=found.compared, notes=notes)


def _as_result(conflict: Conflict) -> KnowledgeConflict:
    return KnowledgeConflict(
        kind=conflict.kind,
        explanation=EXPLAINED[conflict.kind],
        a=_claim(conflict.one),
        b=_claim(conflict.other),
    )


def _claim(statement: Statement) -> ConflictingClaim:
    stands = statement.stands
    return ConflictingClaim(
        collection=stands.collection,
        object_id=stands.object_id,
        text=statement.text,
        source=stands.source,
        link=statement.link,
        locator=dict(stands.locator) if stands.locator else None,
        created_at=stands.created_at,
        evidence_tier=stands.tier,
    )
