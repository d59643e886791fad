"""The kind of records of researches that the Gemini service did."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import RecordField, RecordKind, entity_key

DEEP_REPORTS = "DeepResearchReports"


def deep_report_key(of: Mapping[str, Any]) -> str:
    """Return the key of a report, by a record's fields."""
    return entity_key(DEEP_REPORTS, of["interaction_id"])


DEEP_RESEARCH_REPORTS = RecordKind(
    name=DEEP_REPORTS,
    description="Reports of Gemini's Deep Research, and answers to questions about them.",
    fields=(
        RecordField("topic", description="Topic, or question", vectorised=True, searchable=True),
        RecordField("report", description="The report", vectorised=True, searchable=True),
        RecordField("sources_json", description="Its pages as JSON: title and url"),
        RecordField("interaction_id", description="The research", filterable=True),
        RecordField("follows", description="The research that it asks about", filterable=True),
        RecordField("artifacts", "text[]", "File with the whole of a very long report"),
    ),
    rerank="report",
    identity=deep_report_key,
    derived=True,
    category="report",
    title="topic",
    pins="artifacts",
)
