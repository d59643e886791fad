"""Documents of a report in outline, and how they agree."""

from __future__ import annotations

from collections.abc import Iterator

from vr_kernel import visible_line
from vr_kernel.views import Block, Cell, Table

from vr_plugin_research.results.documents import DocumentMap, DocumentReport
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.parts import prose


def document_maps(report: ResearchReport) -> Iterator[Block]:
    """A table of what documents agree and differ on, then a map of each; for other reports none."""
    if not isinstance(report, DocumentReport):
        return
    rows: list[list[Cell]] = [
        [each.topic, each.agreement, each.disagreement, _numbers(each.sources)]
        for each in report.cross_references
    ]
    if rows:
        columns = ["Topic", "They agree", "They differ", "Sources"]
        yield Table(columns, rows, title="Across the documents", detail=True)
    for each in report.documents:
        yield from _map(each)


def _map(document: DocumentMap) -> Iterator[Block]:
    name = f"S{document.source} {document.title}".strip()
    kind = f"{document.kind}. " if document.kind else ""
    claims = "\n".join(f"- {visible_line(claim)}" for claim in document.key_claims)
    text = f"{kind}{document.summary}\n\n{claims}".strip()
    yield from prose(name, text, detail=True)
    rows: list[list[Cell]] = [[it.title, it.place, it.summary] for it in document.sections]
    if rows:
        yield Table(["Section", "Place", "About"], rows, title=f"{name}: sections", detail=True)


def _numbers(sources: list[int]) -> str:
    return ", ".join(f"S{number}" for number in sources)
