"""Questions of the plan: how well each is answered, and what could not be established."""

from __future__ import annotations

from collections.abc import Iterator

from vr_kernel.views import Block, Cell, Table

from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.parts import listed


def coverage(report: ResearchReport) -> Iterator[Block]:
    """A table of the questions, and a list of those without a claim that stands."""
    rows: list[list[Cell]] = [
        [each.question, each.established, each.best_tier, each.claims, each.sources]
        for each in report.coverage
    ]
    columns = ["Question", "Established", "Best tier", "Claims", "Sources"]
    if rows:
        yield Table(columns, rows, title="Coverage")
    yield from listed("Could not be established", report.not_established)
