"""Claims that contradict each other, each with its place."""

from __future__ import annotations

import re
from collections.abc import Mapping

from vr_kernel import ConflictKind, Services
from vr_kernel.views import Block, Claim, Claims, Link, Prose, Quote, View, view

from vr_plugin_knowledge.graph.moments import seconds_of
from vr_plugin_knowledge.results import ConflictingClaim, KnowledgeConflict, KnowledgeConflicts
from vr_plugin_knowledge.views.places import name_sources, place_of

SAID: Mapping[ConflictKind, str] = {
    "number": "another number",
    "date": "another date",
    "scope": "denied",
}

_PAGE = re.compile(r"[#&]page=(\d{1,6})(?:$|&)")


@view(tool="knowledge_conflicts")
async def show_conflicts(services: Services, found: KnowledgeConflicts) -> View:
    """Each claim with its place, and the one against it."""
    both = [claim for each in found.conflicts for claim in (each.a, each.b)]
    names = await name_sources(services, (claim.source for claim in both))
    blocks: list[Block] = [Claims([_claim(each, names) for each in found.conflicts])]
    if not found.conflicts:
        blocks = [Prose("No claims contradict each other, as far as words tell.")]
    about = [_count(found.compared, "claim") + " compared"]
    title = _count(len(found.conflicts), "contradiction")
    return View(title, blocks, about, notes=found.notes)


def _claim(conflict: KnowledgeConflict, names: Mapping[str, str]) -> Claim:
    a, b = conflict.a, conflict.b
    note = ", ".join(filter(None, [SAID[conflict.kind], b.evidence_tier]))
    against = Quote(b.text, _place(b, names), note=note)
    return Claim(a.text, a.evidence_tier or "", [Quote("", _place(a, names))], [against])


def _place(claim: ConflictingClaim, names: Mapping[str, str]) -> Link:
    """The place of a claim in its source; without one, the record that has it."""
    name = names.get(claim.source or "") or f"{claim.collection}/{claim.object_id[:8]}"
    return place_of(claim.link or claim.source, claim.locator or _opened(claim.link or ""), name)


def _opened(link: str) -> dict[str, float]:
    """The moment or page that a link opens."""
    if (moment := seconds_of(link)) is not None:
        return {"start": moment}
    page = _PAGE.search(link)
    return {"page": int(page[1])} if page else {}


def _count(count: int, what: str) -> str:
    return f"{count:,} {what}" if count == 1 else f"{count:,} {what}s"
