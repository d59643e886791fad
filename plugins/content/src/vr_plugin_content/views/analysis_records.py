"""Analyses as they are recorded."""

from __future__ import annotations

from pydantic import ValidationError
from vr_kernel import StoredRecord

from vr_plugin_content.results.analysis import ContentAnalysis, KeyPoint


def stored(record: StoredRecord) -> ContentAnalysis:
    """Return the analysis of a record, by its whole result or else by its fields."""
    fields = record.fields
    try:
        whole = ContentAnalysis.model_validate_json(str(fields.get("raw_result") or ""))
    except ValidationError:
        said = fields.get("key_points") or []
        names = fields.get("entities") or []
        return ContentAnalysis(
            source=str(fields.get("source", "")),
            title=str(fields.get("title", "")),
            mime="",
            summary=str(fields.get("summary", "")),
            key_points=[KeyPoint(text=str(each)) for each in said],
            entities=[str(each) for each in names],
        )
    return whole.model_copy(update={"source": str(fields.get("source") or whole.source)})
