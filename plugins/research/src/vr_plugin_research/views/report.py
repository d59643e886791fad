"""The view of a report: what is established, what contradicts it, and what it rests on."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from vr_kernel import Services
from vr_kernel.views import Action, Block, File, View, shown_instant, view

from vr_plugin_research.results.documents import DocumentReport
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.claims import claim_blocks, reasons
from vr_plugin_research.views.contradictions import contradictions
from vr_plugin_research.views.coverage import coverage
from vr_plugin_research.views.document_maps import document_maps
from vr_plugin_research.views.matrix import matrix
from vr_plugin_research.views.parts import counted, listed, prose, score_words, told
from vr_plugin_research.views.rounds import rounds
from vr_plugin_research.views.sources import failures, sources
from vr_plugin_research.views.waiting import waiting_view

MOST_CLAIMS = 1_000
"""Claims that are shown at once; a file has all of them."""
UNTITLED = "Report"


def view_of(report: ResearchReport) -> View:
    """Everything that a report says; long parts are details.

    Args:
        report: whole, or shortened for an answer. Of a `DocumentReport` the documents are shown as
            well.
    """
    return View(
        report.topic.strip() or UNTITLED,
        list(_blocks(report)),
        about(report),
        notes=report.limits,
    )


@view(tool="research_deep")
async def show_report(services: Services, report: ResearchReport) -> View:
    """Show a report, or the plan that waits to be followed."""
    if report.status == "waiting":
        return await waiting_view(services, report, about(report))
    return with_next(bounded_view(report), report.report_id)


@view(tool="research_document")
async def show_document_report(services: Services, report: DocumentReport) -> View:
    """Show a report about documents."""
    return with_next(bounded_view(report), report.report_id)


def with_next(shown: View, report_id: str) -> View:
    """A view of a recorded report with what may be done with it next."""
    if not report_id:
        return shown
    named = {"report_id": report_id}
    steps = [
        Action("research_export", {**named, "format": "docx"}, title="Keep it as a file"),
        Action("research_verify", named, title="Check its quotes again, offline"),
    ]
    return replace(shown, blocks=[*shown.blocks, *steps])


def bounded_view(report: ResearchReport) -> View:
    """The view of a report, with no more claims than can be shown at once."""
    count = len(report.findings)
    if count <= MOST_CLAIMS:
        return view_of(report)
    left = f"{MOST_CLAIMS:,} of {count:,} claims are shown; research_export writes all of them."
    cut = {"findings": report.findings[:MOST_CLAIMS], "limits": [left, *report.limits]}
    return view_of(report.model_copy(update=cut))


def about(report: ResearchReport) -> list[str]:
    """Scope, size, score, maker and date, for the line below the title."""
    by = f"by {', '.join(report.models)}" if report.models else "by a model"
    return told(
        [
            "stopped before its end" if report.status == "stopped" else "",
            "waits for you" if report.status == "waiting" else "",
            f"scope {report.scope}",
            counted(len(report.findings), "claim") if report.findings else "",
            counted(len(report.sources), "source") if report.sources else "",
            score_words(report.score),
            "without a model" if report.engine == "local" else by,
            shown_instant(report.created_at),
        ]
    )


def _blocks(report: ResearchReport) -> Iterator[Block]:
    yield from prose("Executive summary", report.executive_summary)
    yield from contradictions(report)
    yield from claim_blocks(report)
    yield from coverage(report)
    yield from listed("Open questions", report.open_questions)
    yield from listed("Recommendations", report.recommendations)
    yield from sources(report.sources)
    yield from failures(report.failures)
    yield from matrix(report)
    yield from reasons(report)
    yield from document_maps(report)
    yield from prose("Critique of the method", report.methodology_critique, detail=True)
    yield from rounds(report.rounds)
    for form, address in report.files.items():
        yield File(address, title=f"The whole report as {form}")
