"""The views of records: reports, findings and plans as they were recorded."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import TypeAdapter, ValidationError
from vr_kernel import Services, StoredRecord, visible_line
from vr_kernel.views import (
    Action,
    Block,
    Claim,
    Claims,
    Item,
    Link,
    Quote,
    Records,
    View,
    shown_instant,
    view,
)

from vr_plugin_research.reports.stored import report_in
from vr_plugin_research.results.claims import Citation
from vr_plugin_research.results.plan import ResearchPlan
from vr_plugin_research.views.parts import facts, listed, part, percent, prose, short_id, told
from vr_plugin_research.views.places import opened_at
from vr_plugin_research.views.plan import plan_view
from vr_plugin_research.views.report import bounded_view

DAMAGED = "The whole of it cannot be read any more; this is what was recorded beside it."
TITLE_CHARS = 120
ITEM_CHARS = 300
_CITATIONS = TypeAdapter(list[Citation])


@view(kind="ResearchReports")
async def show_reports(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show a recorded report, or a list of several."""
    if len(records) > 1:
        return _list("Reports", records, "executive_summary")
    fields = records[0].fields
    report = report_in(fields)
    return _damaged_report(fields) if report is None else bounded_view(report)


@view(kind="ResearchPlans")
async def show_plans(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show a recorded plan, or a list of several."""
    if len(records) > 1:
        return _list("Plans", records, "scope")
    fields = records[0].fields
    try:
        return plan_view(ResearchPlan.model_validate_json(_text(fields, "plan_json")))
    except ValidationError:
        tasks = listed("Tasks", _texts(fields, "task_decomposition"))
        return View(_text(fields, "topic") or "Plan", tasks, notes=[DAMAGED])


@view(kind="ResearchFindings")
async def show_findings(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded claims with their quotes; of one alone its reasoning and its report as well."""
    claims = [_claim(record.fields) for record in records]
    topics = dict.fromkeys(_text(record.fields, "topic") for record in records)
    title = next(iter(topics), "") if len(topics) == 1 else ""
    blocks: list[Block] = [Claims(claims, title="Claims" if len(claims) > 1 else "Claim")]
    if len(records) == 1:
        blocks += _around(records[0].fields)
    return View(title or "Findings", blocks)


def _claim(fields: Mapping[str, Any]) -> Claim:
    confidence = fields.get("confidence")
    is_number = isinstance(confidence, int | float)
    sure = f"confidence {part(float(confidence))}" if is_number and confidence else ""
    try:
        citations = _CITATIONS.validate_json(_text(fields, "citations_json") or "[]")
    except ValidationError:
        citations = []
    return Claim(
        _text(fields, "claim"),
        ", ".join(told([_text(fields, "evidence_tier"), sure])),
        [_quote(each) for each in citations if each.stance == "supports"],
        [_quote(each) for each in citations if each.stance == "contradicts"],
    )


def _quote(citation: Citation) -> Quote:
    """The words of a source that is known by its link alone."""
    address = opened_at(citation.link, citation.page, citation.start)
    label = "" if citation.page or citation.start is not None else citation.place
    place = Link(address, label, citation.start, page=citation.page)
    return Quote(citation.quote, place, citation.status)


def _around(fields: Mapping[str, Any]) -> list[Block]:
    report_id = _text(fields, "report_id")
    return [
        *prose("Reasoning", _text(fields, "reasoning")),
        *prose("Summary of the report", _text(fields, "executive_summary"), detail=True),
        *listed("Open questions", _texts(fields, "open_questions"), detail=True),
        *facts("", [("Report", short_id(report_id)), ("Scope", _text(fields, "scope"))]),
        *(
            [Action("research_verify", {"report_id": report_id}, title="Check its report again")]
            if report_id
            else []
        ),
    ]


def _damaged_report(fields: Mapping[str, Any]) -> View:
    score = fields.get("score")
    stands = isinstance(score, int | float) and not isinstance(score, bool)
    about = [f"{percent(float(score))} of its quotes stand"] if stands and score else []
    blocks = [
        *prose("Executive summary", _text(fields, "executive_summary")),
        *listed("Claims", _texts(fields, "claims")),
        *listed("Sources", _texts(fields, "sources")),
    ]
    return View(_text(fields, "topic") or "Report", blocks, about, notes=[DAMAGED])


def _list(title: str, records: Sequence[StoredRecord], told_by: str) -> View:
    items = [
        Item(
            visible_line(_text(record.fields, "topic"), TITLE_CHARS) or "(no topic)",
            visible_line(_text(record.fields, told_by), ITEM_CHARS),
            facts=told([shown_instant(_text(record.fields, "created_at"))]),
            id=f"{record.kind}/{record.key}",
        )
        for record in records
    ]
    return View(title, [Records(items)])


def _text(fields: Mapping[str, Any], name: str) -> str:
    return str(fields.get(name) or "")


def _texts(fields: Mapping[str, Any], name: str) -> list[str]:
    found = fields.get(name)
    return [str(each) for each in found] if isinstance(found, list | tuple) else []
