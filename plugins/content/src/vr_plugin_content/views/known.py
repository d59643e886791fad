"""Analyses that are known of a document: their points, and their outline."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Services, StoredRecord, VrError, entity_key

from vr_plugin_content.passages.recording import PASSAGES
from vr_plugin_content.record_kinds import ANALYSES
from vr_plugin_content.results.analysis import ContentAnalysis, KeyPoint
from vr_plugin_content.results.document import OutlineItem
from vr_plugin_content.views.analysis_records import stored

MOST_RECORDS = 5_000
MOST_POINTS = 200
FOUND = ("verified", "moved")


@dataclass(frozen=True, slots=True)
class Known:
    """Findings of the analyses of a document.

    Attributes:
        analyses: their number.
        points: those whose quotes stand in the document.
        outline: the longest one.
    """

    analyses: int = 0
    points: Sequence[KeyPoint] = ()
    outline: Sequence[OutlineItem] = ()


async def known_of(services: Services, source: str) -> Known:
    """Return what analyses found in a document; nothing when they cannot be read."""
    try:
        analyses = await _analyses(services, source)
    except VrError:
        return Known()
    found = [it for each in analyses for it in each.key_points if it.status in FOUND]
    outline = max((each.outline for each in analyses), key=len, default=[])
    return Known(len(analyses), found[:MOST_POINTS], outline)


async def has_pages(services: Services, source: str) -> bool:
    """Check if passages of a document are recorded, so that its pages are shown."""
    try:
        known = await services.journal.source(services.workspace, entity_key("source", source))
    except VrError:
        return False
    return known is not None and known.kinds.get(PASSAGES, 0) > 1


async def _analyses(services: Services, source: str) -> list[ContentAnalysis]:
    journal, workspace, wanted = services.journal, services.workspace, entity_key("source", source)
    known = await journal.source(workspace, wanted)
    if known is None or not known.kinds.get(ANALYSES):
        return []
    changes = await journal.of_source(workspace, wanted, limit=MOST_RECORDS)
    return [
        stored(StoredRecord(it.kind, it.key, it.fields, it.provenance))
        for it in changes
        if it.kind == ANALYSES and it.fields
    ]
