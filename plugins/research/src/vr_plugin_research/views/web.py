"""The views of Deep Research: its state, its report, and the pages that it rests on."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from contextlib import suppress

from vr_kernel import Services, StoredRecord, Usage, visible_line
from vr_kernel.views import (
    Action,
    Block,
    File,
    Item,
    Link,
    Prose,
    Records,
    View,
    is_web,
    shown_instant,
    view,
)

from vr_plugin_research.results.web import WebResearch

TITLE_CHARS = 120
STATES: Mapping[str, str] = {
    "in_progress": "under way",
    "completed": "completed",
    "incomplete": "ended before it was whole",
    "failed": "failed",
    "cancelled": "cancelled",
}
"""The states in words."""


@view(tool="research_web")
async def show_started(services: Services, research: WebResearch) -> View:
    """Show a research that was started."""
    del services
    return view_of(research)


@view(tool="research_web_status")
async def show_status(services: Services, research: WebResearch) -> View:
    """Show the state of a research, with its report."""
    del services
    return view_of(research)


@view(tool="research_web_followup")
async def show_followup(services: Services, research: WebResearch) -> View:
    """Show the answer to a question about a research."""
    del services
    return view_of(research)


@view(tool="research_web_cancel")
async def show_cancelled(services: Services, research: WebResearch) -> View:
    """Show the state of a research after it was to be cancelled."""
    del services
    return view_of(research)


@view(kind="DeepResearchReports")
async def show_reports(services: Services, records: Sequence[StoredRecord]) -> View:
    """Show recorded reports: the first in full, the others by their topics."""
    del services
    first, *others = records
    report = str(first.fields.get("report") or "")
    blocks: list[Block] = [Prose(report, title="Report")] if report.strip() else []
    blocks += _sources(_stored_sources(first))
    items = [
        Item(_title(str(it.fields.get("topic") or "")), id=f"{it.kind}/{it.key}") for it in others
    ]
    if items:
        blocks.append(Records(items, title="Others"))
    when = shown_instant(str(first.fields.get("created_at") or ""))
    about = [each for each in ("Deep Research", when) if each]
    return View(_title(str(first.fields.get("topic") or "")), blocks, about)


def view_of(research: WebResearch) -> View:
    """Everything that is known of a research."""
    blocks: list[Block] = []
    if research.report.strip():
        title = "Answer" if research.follows else "Report"
        blocks.append(Prose(research.report, title=title))
    blocks += _sources([(it.title, it.url) for it in research.sources])
    if research.report_uri:
        blocks.append(File(research.report_uri, "text/markdown", title="The whole report"))
    if research.status == "in_progress":
        given = {"interaction_id": research.interaction_id}
        blocks.append(Action("research_web_status", given, title="Look again"))
    about = [STATES[research.status], research.model, _cost(research.usage)]
    about.append(f"begun {shown_instant(research.created)}")
    problem = [f"The service says: {research.problem}."] if research.problem else []
    notes = [*problem, *research.limits]
    return View(_title(research.topic), blocks, [it for it in about if it], notes=notes)


def _title(topic: str) -> str:
    return visible_line(topic, TITLE_CHARS) or "Deep Research"


def _cost(usage: Usage | None) -> str:
    return "" if usage is None or usage.cost_usd is None else f"${usage.cost_usd:.2f}"


def _sources(pages: Sequence[tuple[str, str]]) -> list[Block]:
    """The pages as a list, each of which opens its address."""
    items = [
        Item(visible_line(title, TITLE_CHARS), place=Link(url))
        for title, url in pages
        if is_web(url)
    ]
    return [Records(items, title="Sources")] if items else []


def _stored_sources(record: StoredRecord) -> list[tuple[str, str]]:
    """The pages of a record; none where they are damaged."""
    with suppress(ValueError, TypeError, KeyError):
        listed = json.loads(str(record.fields.get("sources_json") or "[]"))
        return [(str(it["title"]), str(it["url"])) for it in listed]
    return []


VIEWS = (show_started, show_status, show_followup, show_cancelled, show_reports)
"""Each is a view of a tool's result, or of a kind of records."""
