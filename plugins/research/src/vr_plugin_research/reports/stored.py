"""Reports found again in the journal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from pydantic import ValidationError
from vr_kernel import Code, Services, VrError, did_you_mean

from vr_plugin_research.evidence.tiers import held_to
from vr_plugin_research.record_kinds import REPORTS
from vr_plugin_research.results.documents import DocumentReport
from vr_plugin_research.results.report import ResearchReport

SHORTEST = 4
"""Characters of an id that are looked for; lists show eight."""


async def stored_report(services: Services, report_id: str) -> ResearchReport:
    """Return the whole report of that id.

    Raises:
        VrError: NOT_FOUND, category REPORT_UNKNOWN; INVALID_INPUT, category ID_AMBIGUOUS; INTERNAL,
            category REPORT_DAMAGED.
    """
    fields = await stored_fields(services, REPORTS, report_id)
    if fields is None:
        known = await services.journal.keys(REPORTS, services.workspace)
        raise VrError(
            f"There is no report {report_id[:80]!r}.",
            Code.NOT_FOUND,
            category="REPORT_UNKNOWN",
            hint=f"{did_you_mean(report_id[:80], known)}`vr list ResearchReports` shows those there"
            " are; research_deep makes one.",
        )
    report = report_in(fields)
    if report is None:
        raise VrError(
            f"The report {report_id[:80]!r} is damaged.",
            Code.INTERNAL,
            category="REPORT_DAMAGED",
            hint="Its summary and claims can still be read: `vr show` the record.",
        )
    return report


async def stored_fields(services: Services, kind: str, named: str) -> Mapping[str, Any] | None:
    """Return the fields of a record by its id, also with its kind before it, or by a begin of it.

    Raises:
        VrError: INVALID_INPUT, category ID_AMBIGUOUS, when several ids begin so.
    """
    key = named.strip().removeprefix(f"{kind}/")
    change = await services.journal.record(services.workspace, kind, key)
    if change is None and len(key) >= SHORTEST:
        keys = await services.journal.keys(kind, services.workspace)
        fitting = [each for each in keys if each.startswith(key)]
        if len(fitting) > 1:
            raise VrError(
                f"{len(fitting)} ids begin with {key!r}.",
                Code.INVALID_INPUT,
                category="ID_AMBIGUOUS",
                hint=f"Give more of it: {', '.join(fitting[:5])}",
            )
        if fitting:
            change = await services.journal.record(services.workspace, kind, fitting[0])
    return change.fields if change else None


def report_in(fields: Mapping[str, Any]) -> ResearchReport | None:
    """Return the report that a record holds; None where it is damaged."""
    whole = str(fields.get("report_json") or "")
    try:
        found = DocumentReport.model_validate_json(whole)
    except ValidationError:
        return None
    # A record may come from elsewhere: no claim stands higher than its own evidence.
    held = [held_to(claim, found.sources) for claim in found.findings]
    found = found.model_copy(update={"findings": held})
    if found.documents or found.cross_references:
        return found
    return ResearchReport.model_validate(
        found.model_dump(exclude={"documents", "cross_references"})
    )
