"""The kinds of records of the research domain."""

from __future__ import annotations

from vr_kernel import RecordField, RecordKind

FINDINGS = "ResearchFindings"
PLANS = "ResearchPlans"
REPORTS = "ResearchReports"

RESEARCH_FINDINGS = RecordKind(
    name=FINDINGS,
    description="Claims of research, with their tier of evidence.",
    fields=(
        RecordField("topic", description="Research topic", vectorised=True, searchable=True),
        RecordField("scope", description="Research scope", filterable=True),
        RecordField(
            "claim", description="Individual finding or claim", vectorised=True, searchable=True
        ),
        RecordField(
            "evidence_tier",
            description="CONFIRMED, STRONG INDICATOR, INFERENCE, SPECULATION or UNKNOWN",
            filterable=True,
        ),
        RecordField(
            "reasoning", description="Supporting reasoning", vectorised=True, searchable=True
        ),
        RecordField(
            "executive_summary",
            description="Executive summary of the report",
            vectorised=True,
            searchable=True,
        ),
        RecordField("confidence", "number", "Confidence, 0 to 1", filterable=True, range=True),
        RecordField("open_questions", "text[]", "Open research questions", searchable=True),
        RecordField("report_id", description="The report that has it", filterable=True),
        RecordField("source", description="Source of its first quote that stands", filterable=True),
        RecordField("link", description="Opens that source at the quote"),
        RecordField("citations_json", description="Its quotes and their checks, as JSON"),
    ),
    rerank="claim",
    source="source",
    link="link",
    derived=True,
    category="finding",
    part_of="report_id",
)
RESEARCH_PLANS = RecordKind(
    name=PLANS,
    description="Plans of research.",
    fields=(
        RecordField("topic", description="Research topic", vectorised=True, searchable=True),
        RecordField("scope", description="Research scope", filterable=True),
        RecordField(
            "task_decomposition",
            "text[]",
            "Task breakdown",
            vectorised=True,
            searchable=True,
        ),
        RecordField("phases_json", description="Phases as JSON"),
        RecordField("plan_json", description="The whole plan as JSON"),
    ),
    rerank="topic",
    derived=True,
    category="plan",
)
RESEARCH_REPORTS = RecordKind(
    name=REPORTS,
    description="Reports of research, with the evidence that they rest on.",
    fields=(
        RecordField("topic", description="Research topic", vectorised=True, searchable=True),
        RecordField("scope", description="Research scope", filterable=True),
        RecordField(
            "executive_summary", description="Its summary", vectorised=True, searchable=True
        ),
        RecordField("claims", "text[]", "Its claims", searchable=True),
        RecordField("sources", "text[]", "Addresses of its sources", searchable=True),
        RecordField(
            "score", "number", "Part of its quotes that stand, 0 to 1", filterable=True, range=True
        ),
        RecordField("snapshots", "text[]", "Artifacts with the texts of its sources"),
        RecordField("report_json", description="The whole report as JSON"),
    ),
    rerank="executive_summary",
    derived=True,
    category="report",
    pins="snapshots",
)
