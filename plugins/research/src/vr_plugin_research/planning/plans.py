"""Plans of research: read from what a caller gives, recorded, and found again."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import BaseModel, ValidationError
from vr_kernel import Call, Code, Record, Services, VrError, did_you_mean, entity_key

from vr_plugin_research.record_kinds import PLANS
from vr_plugin_research.reports.stored import stored_fields
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.plan import PlanPhase, PlanQuestion, ResearchPlan
from vr_plugin_research.results.report import Engine

MOST_PROBLEMS = 5
FROM_FILE = "A plan in a file is given as JSON: at a terminal `--plan @plan.json` reads the file."
_OURS = {"usage", "limits", "text"}


async def given_plan(
    services: Services, given: Mapping[str, Any] | str, topic: str
) -> ResearchPlan:
    """Return the plan that a caller gives: the id of one that was made, or a plan as JSON.

    Raises:
        VrError: NOT_FOUND, category PLAN_UNKNOWN; INVALID_INPUT, category PLAN_INVALID, naming what
            does not fit.
    """
    if isinstance(given, str):
        if not given.lstrip().startswith("{"):
            return await stored_plan(services, given)
        try:
            given = json.loads(given)
        except (ValueError, RecursionError):
            raise _invalid("it is no JSON") from None
    if not isinstance(given, Mapping):
        raise _invalid("it is no object")
    try:
        if misspelt := list(_misspelt(given)):
            raise _invalid("; ".join(misspelt[:MOST_PROBLEMS]))
        plan = ResearchPlan.model_validate({"topic": topic, **given})
    except ValidationError as error:
        problems = error.errors(include_url=False, include_input=False)
        told = [f"{'.'.join(map(str, it['loc']))}: {it['msg']}" for it in problems[:MOST_PROBLEMS]]
        raise _invalid("; ".join(told)) from None
    if not any(each.question.strip() for each in plan.questions):
        raise _invalid("it has no questions")
    return plan


async def stored_plan(services: Services, plan_id: str) -> ResearchPlan:
    """Return the plan of that id.

    Raises:
        VrError: NOT_FOUND, category PLAN_UNKNOWN; INVALID_INPUT, category PLAN_INVALID.
    """
    fields = await stored_fields(services, PLANS, plan_id)
    if fields is None:
        known = await services.journal.keys(PLANS, services.workspace)
        raise VrError(
            f"There is no plan {plan_id[:80]!r}.",
            Code.NOT_FOUND,
            category="PLAN_UNKNOWN",
            hint=FROM_FILE
            if plan_id.strip().endswith(".json")
            else f"{did_you_mean(plan_id[:80], known)}research_plan makes one, and tells its id.",
        )
    try:
        plan = ResearchPlan.model_validate_json(str(fields.get("plan_json") or ""))
    except ValidationError:
        raise _invalid("the recorded plan is damaged") from None
    if not plan.questions:
        raise _invalid("it has no questions, since the model's answer had no form")
    return plan


def plan_of(
    request: ResearchRequest, questions: Sequence[PlanQuestion], engine: Engine
) -> ResearchPlan:
    """The plan of a piece of research that is about to begin."""
    return ResearchPlan(
        topic=request.topic,
        scope=request.scope,
        questions=list(questions),
        task_decomposition=[each.question for each in questions],
        rounds=request.limits.rounds,
        most_sources=request.limits.sources,
        documents=list(request.documents),
        search_in=list(request.places),
        budget_usd=request.budget_usd,
        engine=engine,
    )


def record_plan(call: Call, plan: ResearchPlan) -> ResearchPlan:
    """Record a plan, and return it with its id."""
    kept = plan.model_copy(update={"plan_id": entity_key(PLANS, call.id)})
    fields = {
        "topic": kept.topic,
        "scope": kept.scope,
        "task_decomposition": kept.task_decomposition or None,
        "phases_json": json.dumps([each.model_dump() for each in kept.phases]),
        "plan_json": kept.model_dump_json(exclude=_OURS if kept.structured else {"usage"}),
    }
    given = {name: value for name, value in fields.items() if value}
    call.record(Record(PLANS, given, kept.plan_id))
    return kept


def _misspelt(given: Mapping[str, Any]) -> Iterator[str]:
    """Yield a remark on each name that is nearly one of a plan; a remark of a person is none."""
    parts: list[tuple[str, type[BaseModel], Any]] = [("", ResearchPlan, given)]
    for name, part in (("questions", PlanQuestion), ("phases", PlanPhase)):
        rows = enumerate(_listed(given.get(name)))
        parts += [(f"{name}.{at}.", part, row) for at, row in rows]
    for where, form, value in parts:
        if not isinstance(value, Mapping):
            continue
        known = [*form.model_fields]
        for name in value:
            meant = "" if name in form.model_fields else did_you_mean(str(name), known).strip()
            if meant:
                yield f"{where}{name} is no part of it ({meant})"


def _listed(value: object) -> list[Any]:
    return value if isinstance(value, list) else []


def _invalid(problem: str) -> VrError:
    return VrError(
        f"This is no plan that can be followed: {problem}.",
        Code.INVALID_INPUT,
        category="PLAN_INVALID",
        hint='A plan is JSON such as {"questions": [{"question": "…", "queries": ["…"]}]};'
        " research_plan makes one.",
    )
