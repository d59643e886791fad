"""The view of research that waits for a person: the plan, its price, and how to go on."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import ValidationError
from vr_kernel import Services
from vr_kernel.views import Block, View

from vr_plugin_research.record_kinds import PLANS
from vr_plugin_research.results.plan import ResearchPlan
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.views.parts import prose
from vr_plugin_research.views.plan import follow, plan_blocks

WAITS = "Nothing was searched or paid yet. Change the plan, or follow it as it is."


async def waiting_view(services: Services, report: ResearchReport, about: Sequence[str]) -> View:
    """The plan that waits, as it was recorded, and the call that follows it."""
    plan = await _plan(services, report.plan_id)
    blocks: list[Block] = [*prose("", report.executive_summary or WAITS)]
    blocks += plan_blocks(plan) if plan else []
    blocks += [follow(report.topic, report.plan_id, report.scope)]
    return View(report.topic.strip() or "Research", blocks, about, notes=report.limits)


async def _plan(services: Services, plan_id: str | None) -> ResearchPlan | None:
    if not plan_id:
        return None
    change = await services.journal.record(services.workspace, PLANS, plan_id)
    fields = (change.fields if change else None) or {}
    try:
        return ResearchPlan.model_validate_json(str(fields.get("plan_json") or ""))
    except ValidationError:
        return None
