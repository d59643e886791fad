"""Contradictions between a report and earlier ones."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from vr_kernel import Call, Query, VrError, find_conflict

from vr_plugin_research.evidence.likeness import sense_of
from vr_plugin_research.record_kinds import FINDINGS
from vr_plugin_research.results.claims import Contradiction
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.stages.contradictions import EXPLAINED

MOST_CLAIMS = 60
NEAREST = 5
MOST_FOUND = 20
STANDING = ("CONFIRMED", "STRONG INDICATOR", "INFERENCE")


def _rests_on(fields: Mapping[str, Any]) -> set[tuple[str, tuple[str, ...]]]:
    """The source of an earlier claim, with each of its quotes."""
    try:
        rows = json.loads(str(fields.get("citations_json") or "[]"))
        return {(str(fields.get("source")), sense_of(str(row["quote"]))) for row in rows}
    except (ValueError, TypeError, KeyError, RecursionError):  # a record may be damaged
        return set()


def _quoted(report: ResearchReport) -> set[tuple[str, tuple[str, ...]]]:
    return {
        (source.source, sense_of(each.quote))
        for claim in report.findings
        for each in claim.supporting
        if (source := report.source(each.source))
    }


async def with_earlier(call: Call, report: ResearchReport) -> ResearchReport:
    """Return a report with the claims of earlier ones that contradict it, as far as words tell."""
    store = call.services.store
    if not store.available():
        return report
    found: dict[tuple[str, str], Contradiction] = {}
    quoted = _quoted(report)  # what the report itself read says nothing new of it
    try:
        for claim in report.findings[:MOST_CLAIMS]:
            if claim.evidence_tier not in STANDING or len(found) == MOST_FOUND:
                continue
            asked = Query(
                claim.claim,
                mode="keyword",
                kinds=(FINDINGS,),
                limit=NEAREST,
                workspace=call.workspace,
            )
            for hit in await store.search(asked):
                fields = hit.record.fields
                said, earlier = str(fields.get("claim") or ""), str(fields.get("report_id") or "")
                if earlier in ("", report.report_id) or fields.get("evidence_tier") not in STANDING:
                    continue
                kind = find_conflict(claim.claim, said)
                if kind is None or not quoted.isdisjoint(_rests_on(fields)):
                    continue
                found[claim.id, said] = Contradiction(
                    claim_a=claim.id,
                    claim_b=said,
                    kind=kind,
                    explanation=EXPLAINED[kind],
                    report_b=earlier,
                )
    except VrError as error:
        call.note(f"Earlier reports were not compared: {error.message}")
    return report.model_copy(update={"contradictions": [*report.contradictions, *found.values()]})
