"""Records reports, and each of their claims as a finding."""

from __future__ import annotations

import json
from collections.abc import Iterator

from vr_kernel import Call, Record, entity_key

from vr_plugin_research.record_kinds import FINDINGS, REPORTS
from vr_plugin_research.results.claims import FOUND, Citation, Claim
from vr_plugin_research.results.report import ResearchReport

OF_ONE_ANSWER = {"usage", "files"}
"""Fields of a report that belong to one answer alone."""


def record_report(call: Call, report: ResearchReport) -> None:
    """Record a report with its claims; the texts of its sources are kept as long as it is."""
    snapshots = [each.snapshot for each in report.sources if each.snapshot]
    fields = {
        "topic": report.topic,
        "scope": report.scope,
        "executive_summary": report.executive_summary,
        "claims": [each.claim for each in report.findings],
        "sources": [each.source for each in report.sources],
        "score": report.score.share,
        "snapshots": list(dict.fromkeys(snapshots)),
        "report_json": report.model_dump_json(exclude=OF_ONE_ANSWER),
    }
    given = {name: value for name, value in fields.items() if value not in ("", [])}
    call.record(
        Record(REPORTS, given, report.report_id, provenance={"sources": [*_sources(report)]}),
        *(finding_record(call, report, claim) for claim in report.findings),
    )


def finding_record(call: Call, report: ResearchReport, claim: Claim) -> Record:
    """The record of one claim of a report."""
    found = [each for each in claim.supporting if each.status in FOUND]
    source = report.source(found[0].source) if found else None
    fields = {
        "topic": report.topic,
        "scope": report.scope,
        "claim": claim.claim,
        "evidence_tier": claim.evidence_tier,
        "reasoning": claim.reasoning,
        "executive_summary": report.executive_summary[:1_000],
        "confidence": claim.confidence,
        "open_questions": report.open_questions,
        "report_id": report.report_id,
        "source": source.source if source else "",
        "link": found[0].link if found else "",
        "citations_json": json.dumps([each.model_dump() for each in claim.citations]),
    }
    given = {name: value for name, value in fields.items() if value not in ("", [])}
    provenance = {"sources": [_provenance(each, report) for each in found]}
    return Record(FINDINGS, given, entity_key(FINDINGS, call.id, claim.id), provenance)


def _sources(report: ResearchReport) -> Iterator[dict[str, str]]:
    for claim in report.findings:
        for each in claim.supporting:
            if each.status in FOUND:
                yield _provenance(each, report)


def _provenance(citation: Citation, report: ResearchReport) -> dict[str, str]:
    source = report.source(citation.source)
    return {"quote": citation.quote, "link": citation.link or (source.source if source else "")}
