"""Claims of a report: by tier, with the quotes for and against them, and why they stand so."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from vr_kernel import visible_line
from vr_kernel.views import Block, Cell, Claims, Prose, Table
from vr_kernel.views import Claim as ShownClaim

from vr_plugin_research.results.claims import FOUND, TIERS, Citation, Claim
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.views.parts import part
from vr_plugin_research.views.places import quote_of

ALWAYS = 4
"""Columns of the tiers that are shown even where nothing is in them."""


def claim_words(claim: Claim) -> str:
    """A claim with the id by which texts refer to it."""
    return f"{claim.id}: {claim.claim}" if claim.id else claim.claim


def ordered(claims: Sequence[Claim]) -> list[Claim]:
    """Claims by tier, the best first; in their order within a tier."""
    return sorted(claims, key=lambda claim: TIERS.index(claim.evidence_tier))


def claim_blocks(report: ResearchReport) -> Iterator[Block]:
    """Claims with their quotes, below a table of the tiers."""
    if not report.findings:
        yield Prose("No claim was found.", title="Claims")
        return
    yield _tiers(report.findings)
    known = {source.number: source for source in report.sources}
    shown = [_shown(claim, known) for claim in ordered(report.findings)]
    yield Claims(shown, title="Claims")


def _shown(claim: Claim, known: Mapping[int, ReportSource]) -> ShownClaim:
    return ShownClaim(
        claim_words(claim),
        f"{claim.evidence_tier}, confidence {part(claim.confidence)}",
        [quote_of(each, known.get(each.source)) for each in claim.supporting],
        [quote_of(each, known.get(each.source)) for each in claim.contradicting],
    )


def reasons(report: ResearchReport) -> list[Block]:
    """The reasoning behind each claim, and why one stands lower than was claimed."""
    rows: list[list[Cell]] = [
        [visible_line(claim_words(claim), 120), claim.reasoning, " ".join(claim.notes)]
        for claim in ordered(report.findings)
        if claim.reasoning or claim.notes
    ]
    columns = ["Claim", "Reasoning", "Lowered because"]
    return [Table(columns, rows, title="Reasoning", detail=True)] if rows else []


def _tiers(claims: Sequence[Claim]) -> Table:
    rows: list[list[Cell]] = []
    for tier in TIERS:
        of_tier = [claim for claim in claims if claim.evidence_tier == tier]
        if of_tier:
            quotes = [citation for claim in of_tier for citation in claim.citations]
            rows.append([tier, len(of_tier), *_counts(quotes)])
    columns = ["Tier", "Claims", "Support", "Contradict", "Not found", "Unchecked"]
    told = [at for at in range(len(columns)) if at < ALWAYS or any(row[at] for row in rows)]
    shown = [[row[at] for at in told] for row in rows]
    return Table([columns[at] for at in told], shown, title="Evidence by tier")


def _counts(quotes: Sequence[Citation]) -> list[int]:
    """The quotes that stand, for and against, then those that were not found or looked for."""
    stand = [quote.stance for quote in quotes if quote.status in FOUND]
    states = [quote.status for quote in quotes]
    return [
        stand.count("supports"),
        stand.count("contradicts"),
        states.count("not_found"),
        states.count("unchecked"),
    ]
