"""Contradictions of a report: claims that cannot both hold, side by side."""

from __future__ import annotations

from vr_kernel.views import Block, Cell, Table

from vr_plugin_research.results.claims import Contradiction
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.claims import claim_words
from vr_plugin_research.views.parts import short_id


def contradictions(report: ResearchReport) -> list[Block]:
    """A row for each pair of claims, with why they differ; nothing without any."""
    named = {claim.id: claim_words(claim) for claim in report.findings}

    def row(each: Contradiction) -> list[Cell]:
        other = named.get(each.claim_b, each.claim_b)
        if each.report_b:
            other = f"Earlier report {short_id(each.report_b)}: {each.claim_b}"
        why = f"{each.kind}: {each.explanation}" if each.explanation else each.kind
        return [named.get(each.claim_a, each.claim_a), other, why]

    rows = [row(each) for each in report.contradictions]
    columns = ["Claim", "Contradicts", "Kind and reason"]
    return [Table(columns, rows, title="Contradictions")] if rows else []
