"""Contradictions between a report and earlier ones."""

from __future__ import annotations

from vr_kernel import Call, Query, VrError, find_conflict

from vr_plugin_research.record_kinds import FINDINGS
from vr_plugin_research.results.claims import Contradiction
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.stages.contradictions import EXPLAINED

MOST_CLAIMS = 60
NEAREST = 5
MOST_FOUND = 20
STANDING = ("CONFIRMED", "STRONG INDICATOR", "INFERENCE")


async def with_earlier(call: Call, report: ResearchReport) -> ResearchReport:
    """Return a report with the claims of earlier ones that contradict it, as far as words tell."""
    store = call.services.store
    if not store.available():
        return report
    found: dict[tuple[str, str], Contradiction] = {}
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
                kind = find_conflict(claim.claim, said)
                if kind is None or earlier in ("", report.report_id):
                    continue
                if fields.get("evidence_tier") not in STANDING:
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
