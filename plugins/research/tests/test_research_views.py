"""Views of reports, plans, checks and records: what their readers see."""

from __future__ import annotations

import json
import re
from collections.abc import AsyncIterator, Iterator
from pathlib import Path
from typing import Any

import pytest
import report_samples as samples
from pydantic import BaseModel
from vr_kernel import READ_ONLY, Call, Record, StoredRecord, hookimpl, tool
from vr_kernel.views import (
    Action,
    Claims,
    Facts,
    File,
    Link,
    Matrix,
    Prose,
    Records,
    Steps,
    Table,
    View,
    as_markdown,
    as_text,
)
from vr_plugin_research.record_kinds import (
    PLANS,
    RESEARCH_FINDINGS,
    RESEARCH_PLANS,
    RESEARCH_REPORTS,
)
from vr_plugin_research.results.export import ReportExport
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.views import assessment, export, plan, records, report, verification
from vr_plugin_research.views.declared import VIEWS
from vr_plugin_research.views.places import address_of, opened_at, title_of
from vr_testing import TrialKernel, check_view, open_kernel

GOLDEN = Path(__file__).with_name("test_research_views.golden.txt")
COLUMNS = 80
UNSAFE = re.compile(r"(?<!\\)(?:\\\\)*\]\((?!https?://|file:///)|(?<!\\)<")
"""Links of Markdown to what is no page, and markup."""


class Kept(BaseModel):
    """The result of the kit's tool."""

    key: str


@tool(effects=READ_ONLY)
async def kit_keep(call: Call, kind: str, key: str, fields: dict[str, Any]) -> Kept:
    """Record something."""
    call.record(Record(kind, fields, key))
    return Kept(key=key)


class Shown:
    """A plugin with the views and kinds, and a tool that records."""

    vr_tools = staticmethod(hookimpl(lambda: [kit_keep]))
    vr_views = staticmethod(hookimpl(lambda: [*VIEWS]))
    vr_record_kinds = staticmethod(
        hookimpl(lambda: [RESEARCH_FINDINGS, RESEARCH_PLANS, RESEARCH_REPORTS])
    )


@pytest.fixture
async def kernel() -> AsyncIterator[TrialKernel]:
    async with open_kernel({"shown": Shown}) as opened:
        yield opened


def block(view: View, kind: type[Any], title: str = "") -> Any:
    """The block of a kind with this title; the only one of its kind without a title."""
    (found,) = (it for it in view.blocks if type(it) is kind and title in ("", it.title))
    return found


def titles(view: View) -> list[str]:
    return [it.title for it in view.blocks]


def at_terminal(view: View, *, full: bool = False) -> str:
    """A view as a terminal of 80 columns shows it."""
    pen = pytest.importorskip("vr_cli.showing.pen", reason="vr-cli is not installed")
    terminal = pytest.importorskip("vr_cli.showing.terminal", reason="vr-cli is not installed")
    window = pytest.importorskip("vr_cli.showing.window", reason="vr-cli is not installed")
    return str(terminal.drawn(view, pen.Pen(window.Window(COLUMNS), full)))


def every_view() -> Iterator[tuple[str, View]]:
    """All kinds of views of reports, by a name."""
    yield "report", report.view_of(samples.report())
    yield "documents", report.view_of(samples.document_report())
    yield "empty", report.view_of(samples.empty_report())
    yield "plan", plan.plan_view(samples.plan())


def test_contradictions_come_before_claims_and_claims_before_coverage() -> None:
    view = report.view_of(samples.report())
    shown = titles(view)
    assert shown[:5] == [
        "Executive summary",
        "Contradictions",
        "Evidence by tier",
        "Claims",
        "Coverage",
    ]
    assert "Could not be established" in shown
    rows = block(view, Table, "Contradictions").rows
    assert rows[0][0].startswith("C1: ")
    assert rows[0][1].startswith("C3: ")
    assert rows[0][2].startswith("number: The field study")
    assert rows[1][1] == "Earlier report r-2024-03: Backup heating ran on a fifth of all hours."


def test_a_report_says_its_scope_its_size_and_its_score() -> None:
    view = report.view_of(samples.report())
    assert view.title == samples.TOPIC
    assert view.about == (
        "scope deep",
        "4 claims",
        "6 sources",
        "5 of 7 quotes stand",
        "by gemini-3-pro",
        "2026-02-03 10:15",
    )
    assert view.notes == ("Stopped after 2 of 3 rounds: the budget was used up.",)
    stopped = report.view_of(samples.report(status="stopped", engine="local", models=[]))
    assert stopped.about[0] == "stopped before its end"
    assert "without a model" in stopped.about


def test_claims_have_their_tier_and_quotes_for_and_against_them() -> None:
    items = block(report.view_of(samples.report()), Claims).items
    assert [item.text[:2] for item in items] == ["C1", "C2", "C4", "C3"], "the best tier first"
    first = items[0]
    assert first.tier == "CONFIRMED, confidence 0.93"
    assert [quote.mark for quote in first.quotes] == ["verified", "verified"]
    assert [quote.text for quote in first.against] == ["below -10 °C the efficiency falls to 1"]
    paper, film = (quote.place for quote in first.quotes)
    assert paper == Link(
        f"{samples.PDF}#page=7", "S1 Cold-climate performance of air-source…", page=7
    )
    assert film == Link(
        f"{samples.FILM}&t=93s", "S2 I ran a heat pump at -25 °C for a winter", 93.4
    )
    moved = items[1].quotes[0]
    assert moved.mark == "moved"
    assert "p. 21 was given" in moved.note


@pytest.mark.parametrize(
    ("address", "page", "start", "opened"),
    [
        ("https://a.example/x.pdf", 7, None, "https://a.example/x.pdf#page=7"),
        ("https://a.example/x.pdf#page=2", 7, None, "https://a.example/x.pdf#page=2"),
        ("https://a.example/x.mp4", None, 93.9, "https://a.example/x.mp4#t=93"),
        ("https://youtu.be/dQw4w9WgXcQ?si=x", None, 93.9, f"{samples.FILM}&t=93s"),
        ("https://m.youtube.com/watch?v=dQw4w9WgXcQ&t=5", None, 7.0, f"{samples.FILM}&t=7s"),
        ("https://www.youtube.com/shorts/dQw4w9WgXcQ", None, 7.0, f"{samples.FILM}&t=7s"),
        ("https://www.youtube.com/", None, 7.0, "https://www.youtube.com/#t=7"),
        ("", 7, 3.0, ""),
    ],
)
def test_an_address_opens_at_a_page_or_second(
    address: str, page: int | None, start: float | None, opened: str
) -> None:
    assert opened_at(address, page, start) == opened


@pytest.mark.parametrize("source", ["javascript:alert(1)", "//evil/x", "ResearchReports/1", "text"])
def test_what_is_no_address_opens_nothing(source: str) -> None:
    assert address_of(source) == ""


def test_a_text_without_a_title_is_named_by_its_kind() -> None:
    assert title_of(ReportSource(number=1, title="", source="text:0f", kind="text")) == "Text"
    assert title_of(ReportSource(number=1, title="", source=samples.PDF)) == "labs.example.org"


def test_sources_show_the_parts_of_their_quality() -> None:
    view = report.view_of(samples.report())
    first, _, retracted, unknown, *_ = block(view, Records, "Sources").items
    assert first.title.startswith("S1 Cold-climate")
    parts = "relevance 0.97, recency 0.81, authority 0.90, independence 1.00"
    assert first.text == f"Quality 0.88: {parts}"
    assert first.facts == ("cited 4 times", "document", "2024-02-11")
    assert retracted.facts[0] == "RETRACTED"
    assert unknown.text == "", "nothing is known of its quality"
    assert unknown.place.address == "file:///home/me/notes/survey.pdf"


def test_the_matrix_says_what_each_source_says_of_each_claim() -> None:
    matrix = block(report.view_of(samples.report()), Matrix)
    assert matrix.detail
    assert [source.label for source in matrix.sources] == ["S1", "S2", "S3", "S4", "S5", "S6"]
    assert matrix.cells[0] == ("supports", "supports", "", "", "", "contradicts")
    assert matrix.cells[2][3] == "supports (unchecked)"
    assert matrix.cells[3][2] == "not found"


def test_rounds_are_steps_with_what_was_new() -> None:
    view = report.view_of(samples.report())
    second = block(view, Steps).items[1]
    assert "4 findings, 25 % of them new" in second.text
    assert block(view, Table, "Searches").rows[2] == (2, "defrost losses")


def test_maps_of_documents_are_details() -> None:
    view = report.view_of(samples.document_report())
    across = block(view, Table, "Across the documents")
    assert across.detail
    assert across.rows[0][3] == "S1, S4"
    assert block(view, Prose, "S1 Cold-climate performance").detail


async def test_a_shortened_report_leads_to_the_whole() -> None:
    files = {"json": f"vr://artifacts/{'0f' * 32}.json"}
    cut = samples.report(files=files, limits=["Shortened (findings: 4 of 45)."])
    view = await report.show_report(None, cut)  # type: ignore[arg-type]  # it needs none
    assert block(view, File).link == files["json"]
    assert block(view, File).title == "The whole report as json"
    assert view.notes[0].startswith("Shortened")


async def test_a_recorded_report_leads_to_its_file_and_its_checks() -> None:
    services: Any = None  # a finished report needs none
    made = samples.report()
    shown = await report.show_report(services, made)
    steps = [it for it in shown.blocks if isinstance(it, Action)]
    assert [it.tool for it in steps] == ["research_export", "research_verify"]
    assert {it.arguments["report_id"] for it in steps} == {made.report_id}
    unrecorded = await report.show_report(services, made.model_copy(update={"report_id": ""}))
    assert not any(isinstance(it, Action) for it in unrecorded.blocks)


async def test_of_a_very_long_report_a_part_is_shown_and_counted(kernel: TrialKernel) -> None:
    record = samples.report_record(samples.long_report(5_000))
    view = await kernel.services.views.of_records([record])
    assert len(block(view, Claims).items) == report.MOST_CLAIMS
    assert view.notes[0].startswith("1,000 of 5,000 claims are shown")
    assert not any("plain form" in note for note in view.notes)
    assert len(at_terminal(view).splitlines()) < 200


async def test_a_waiting_report_shows_its_plan_and_how_to_go_on(kernel: TrialKernel) -> None:
    made = samples.plan()
    await kernel.call(
        "kit_keep", kind=PLANS, key="p-1", fields={"plan_json": made.model_dump_json()}
    )
    waiting = ResearchReport(
        report_id="r-1",
        topic=samples.TOPIC,
        scope="deep",
        status="waiting",
        executive_summary="The plan waits.",
        plan_id="p-1",
    )
    view = await report.show_report(kernel.services, waiting)
    assert view.about[0] == "waits for you"
    assert block(view, Table, "Questions").rows == (("How much frost?", 1),)
    follow = block(view, Action)
    assert (follow.tool, follow.arguments) == (
        "research_deep",
        {"topic": samples.TOPIC, "plan": "p-1"},
    )
    unplanned = waiting.model_copy(update={"plan_id": "gone"})
    assert "Questions" not in titles(await report.show_report(kernel.services, unplanned))


def test_a_plan_shows_its_questions_phases_and_price() -> None:
    view = plan.plan_view(samples.plan())
    assert "$0.10 to $0.45" in view.about
    assert block(view, Steps).items[0].text.endswith("Done when nothing new is found")
    assert dict(block(view, Facts).rows)["Rounds"] == 3
    free = samples.plan().model_copy(update={"structured": False, "text": "First, look."})
    assert block(plan.plan_view(free), Prose, "As the model wrote it").text == "First, look."


async def test_an_assessment_shows_what_speaks_for_and_against_a_claim() -> None:
    view = await assessment.show_assessment(None, samples.assessment())  # type: ignore[arg-type]
    (claim,) = block(view, Claims).items
    assert (len(claim.quotes), len(claim.against)) == (2, 1)
    assert "3 of 3 quotes stand" in view.about


async def test_a_verification_names_what_changed() -> None:
    view = await verification.show_verification(None, samples.verification())  # type: ignore[arg-type]
    row = block(view, Table, "Claims that changed").rows[0]
    assert row[1:] == ("stale", "STRONG INDICATOR", "INFERENCE")
    assert block(view, Table, "Quotes that changed").rows[0][3:5] == ("found", "not found")
    assert block(view, Action).arguments["refresh"] is True
    same = samples.verification().model_copy(
        update={"changed_claims": [], "changed_citations": [], "refreshed": True}
    )
    shown = await verification.show_verification(None, same)  # type: ignore[arg-type]
    assert [type(each) for each in shown.blocks] == [Prose]


async def test_an_export_shows_its_file() -> None:
    made = ReportExport(
        report_id="r-1", format="docx", uri="vr://artifacts/x.docx", path="/x.docx", size=7
    )
    view = await export.show_export(None, made)  # type: ignore[arg-type]
    assert (view.title, block(view, File).size) == ("Report as a Word file", 7)


async def test_recorded_reports_are_shown_whole_damaged_and_several(kernel: TrialKernel) -> None:
    views = kernel.services.views
    whole = samples.report_record(samples.document_report())
    view = await views.of_records([whole])
    assert "Across the documents" in titles(view)
    damaged = StoredRecord(whole.kind, "1", {**whole.fields, "report_json": "{"})
    view = await views.of_records([damaged])
    assert view.notes == (records.DAMAGED,)
    assert view.about == ("71 % of its quotes stand",)
    several = await views.of_records([whole, damaged])
    assert [item.id for item in block(several, Records).items] == [
        "ResearchReports/r-7f3a",
        "ResearchReports/1",
    ]
    empty = await views.of_records([StoredRecord(whole.kind, "2", {})])
    assert empty.title == "Report"


async def test_recorded_findings_have_their_quotes_and_their_report(kernel: TrialKernel) -> None:
    claim = samples.FINDINGS[0]
    quotes = [
        {**each.model_dump(), "link": samples.PDF if each.page else ""} for each in claim.citations
    ]
    fields = {
        "topic": samples.TOPIC,
        "claim": claim.claim,
        "evidence_tier": "CONFIRMED",
        "confidence": 0.93,
        "reasoning": claim.reasoning,
        "report_id": "r-7f3a",
        "citations_json": json.dumps(quotes),
    }
    record = StoredRecord("ResearchFindings", "1", fields)
    view = await kernel.services.views.of_records([record])
    (shown,) = block(view, Claims).items
    assert shown.tier == "CONFIRMED, confidence 0.93"
    assert shown.quotes[0].place.address == f"{samples.PDF}#page=7"
    assert len(shown.against) == 1
    assert block(view, Action).arguments == {"report_id": "r-7f3a"}
    broken = StoredRecord("ResearchFindings", "2", {**fields, "citations_json": "["})
    several = await kernel.services.views.of_records([record, broken])
    assert [len(each.quotes) for each in block(several, Claims).items] == [2, 0]


async def test_recorded_plans_are_shown(kernel: TrialKernel) -> None:
    made = samples.plan()
    fields = {"topic": made.topic, "plan_json": made.model_dump_json(), "scope": "deep"}
    record = StoredRecord("ResearchPlans", "p-1", fields)
    views = kernel.services.views
    assert (await views.of_records([record])).title == f"Plan: {samples.TOPIC}"
    lost = {"topic": "Frost", "task_decomposition": ["Look"], "plan_json": "no"}
    view = await views.of_records([StoredRecord("ResearchPlans", "p-2", lost)])
    assert (view.title, view.notes) == ("Frost", (records.DAMAGED,))
    assert len(block(await views.of_records([record, record]), Records).items) == 2


async def test_every_view_can_be_read_in_every_form() -> None:
    pages = pytest.importorskip("vr_pages.plugin", reason="vr-pages is not installed")
    from vr_kernel.views import ViewRenderer

    async with open_kernel({"pages": pages}) as kernel:
        renderer = kernel.services.providers.get(ViewRenderer)
        for _, view in every_view():
            await check_view(view, renderer)


@pytest.mark.parametrize("text", samples.HOSTILE)
def test_no_text_of_a_report_breaks_its_view_or_steers_a_terminal(text: str) -> None:
    for view in (report.view_of(samples.hostile_report(text)), plan.plan_view(samples.plan(text))):
        for shown in (as_markdown(view), as_text(view), at_terminal(view, full=True)):
            assert not any(ord(sign) < 32 and sign != "\n" for sign in shown)
            assert "\u202e" not in shown
            shown.encode()
        assert not UNSAFE.search(as_markdown(view))


def test_numbers_that_are_none_break_no_view() -> None:
    odd = samples.cited(1, "quote", page=-3, start=float("inf"))
    claim = samples.FINDINGS[0].model_copy(update={"citations": [odd], "confidence": float("nan")})
    view = report.view_of(samples.report(findings=[claim]))
    assert block(view, Claims).items[0].quotes[0].place.address == samples.PDF


@pytest.mark.parametrize("full", [False, True])
def test_nothing_is_wider_than_80_columns(full: bool) -> None:
    cells = pytest.importorskip("rich.cells")
    for name, view in every_view():
        widest = max(cells.cell_len(line) for line in at_terminal(view, full=full).splitlines())
        assert widest <= COLUMNS, name


def test_a_report_looks_at_a_terminal_as_before() -> None:
    """After a change that is meant, write what it shows into the golden file."""
    assert at_terminal(report.view_of(samples.report())) + "\n" == GOLDEN.read_text("utf-8")
