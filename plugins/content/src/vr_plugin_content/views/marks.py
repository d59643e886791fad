"""The quotes of recorded analyses, which are marked in the text of their document."""

from __future__ import annotations

from vr_kernel import Services, StoredRecord, VrError, entity_key

from vr_plugin_content.record_kinds import ANALYSES
from vr_plugin_content.views.analysis import stored

MOST_RECORDS = 5_000
MOST_QUOTES = 200
FOUND = ("verified", "moved")


async def quotes_about(services: Services, source: str) -> list[str]:
    """Return the quotes that analyses found in a document; none when they cannot be read."""
    wanted = entity_key("source", source)
    try:
        changes = await services.journal.of_source(services.workspace, wanted, limit=MOST_RECORDS)
    except VrError:
        return []
    quotes: dict[str, None] = {}
    for change in changes:
        if change.kind == ANALYSES and change.fields:
            record = StoredRecord(change.kind, change.key, change.fields, change.provenance)
            for point in stored(record).key_points:
                if point.status in FOUND:
                    quotes[point.quote or point.text] = None
    return [*quotes][:MOST_QUOTES]
