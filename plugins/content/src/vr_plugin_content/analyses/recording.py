"""Records analyses: once, and again when they were deleted."""

from __future__ import annotations

from vr_kernel import Call, Record, VrError

from vr_plugin_content.record_kinds import ANALYSES
from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.sources.source import PASTED

RAW_CHARS = 200_000
"""Longest whole result in a record; a longer one loses points from its end."""


def record_of(analysis: ContentAnalysis, instruction: str) -> Record:
    """Return the record of an analysis."""
    fields = {
        "source": analysis.source,
        "text_sha256": analysis.sha256 if analysis.source == PASTED else None,
        "instruction": instruction,
        "title": analysis.title,
        "summary": analysis.summary,
        "key_points": [point.text for point in analysis.key_points],
        "entities": analysis.entities,
        "raw_result": _raw(analysis),
    }
    return Record(ANALYSES, {name: value for name, value in fields.items() if value})


async def is_recorded(call: Call, record: Record) -> bool:
    """True when the journal has an analysis, or cannot be read now, which a remark says."""
    key = call.services.kinds[ANALYSES].identify(record.fields)
    try:
        return await call.services.journal.has(call.workspace, [(ANALYSES, key)])
    except VrError as error:
        call.note(f"The analysis was not recorded again: {error.message}")
        return True


def _raw(analysis: ContentAnalysis) -> str:
    """The whole result as JSON, without what is of this call alone."""
    kept = analysis.model_copy(update={"usage": None, "cached": False})
    while len(raw := kept.model_dump_json()) > RAW_CHARS and kept.key_points:
        half = kept.key_points[: len(kept.key_points) // 2]
        kept = kept.model_copy(update={"key_points": half})
    return raw
