"""All views of the plugin."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from vr_plugin_research.views import assessment, export, plan, records, report, verification, web

VIEWS: tuple[Callable[..., Any], ...] = (
    report.show_report,
    report.show_document_report,
    plan.show_plan,
    assessment.show_assessment,
    verification.show_verification,
    export.show_export,
    records.show_reports,
    records.show_findings,
    records.show_plans,
    web.show_started,
    web.show_status,
    web.show_followup,
    web.show_cancelled,
    web.show_reports,
)
"""Each is a view of a tool's result, or of a kind of records."""
