"""The view of a plan: its questions and searches, its phases, its price, and how to follow it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from vr_kernel import Services
from vr_kernel.views import Action, Block, Cell, Step, Steps, Table, View, view

from vr_plugin_research.results.plan import PlanPhase, PlanQuestion, ResearchPlan
from vr_plugin_research.views.parts import counted, facts, listed, prose, told

FOLLOW, GO_ON = "Follow this plan", "Go on without asking"


def plan_view(plan: ResearchPlan) -> View:
    """Everything that a plan says."""
    blocks = [*plan_blocks(plan), follow(plan.topic, plan.plan_id, plan.scope)]
    return View(f"Plan: {plan.topic}".strip(), blocks, _about(plan), notes=plan.limits)


@view(tool="research_plan")
async def show_plan(services: Services, plan: ResearchPlan) -> View:
    """Show a plan."""
    return plan_view(plan)


def follow(topic: str, plan_id: str | None, scope: str) -> Action:
    """The call that follows a plan; without one the research is planned anew."""
    known: dict[str, Any] = {"plan": plan_id} if plan_id else {"scope": scope}
    title = FOLLOW if plan_id else GO_ON
    return Action("research_deep", {"topic": topic, **known}, title=title)


def plan_blocks(plan: ResearchPlan) -> Iterator[Block]:
    """The parts of a plan."""
    if not plan.structured:
        yield from prose("As the model wrote it", plan.text)
    yield from _questions(plan.questions)
    if plan.phases:
        yield Steps([_step(each) for each in plan.phases], title="Phases")
        yield from _tasks(plan.phases)
    yield from listed("Tasks", plan.task_decomposition, detail=bool(plan.phases))
    yield from listed("Constraints", plan.constraints)
    yield from listed("Stakeholders", plan.stakeholders, detail=True)
    yield from facts("Bounds", _bounds(plan))


def cost_words(plan: ResearchPlan) -> str:
    """The price in words; empty when it is not known."""
    low, high = plan.cost_low_usd, plan.cost_high_usd
    if low is None and high is None:
        return ""
    ends = [f"${each:.2f}" for each in (low, high) if each is not None]
    return " to ".join(dict.fromkeys(ends))


def _about(plan: ResearchPlan) -> list[str]:
    by = f"by {plan.model}" if plan.model else ""
    return told(
        [
            f"scope {plan.scope}",
            counted(len(plan.questions), "question") if plan.questions else "",
            cost_words(plan),
            "without a model" if plan.engine == "local" else by,
        ]
    )


def _questions(questions: Sequence[PlanQuestion]) -> Iterator[Block]:
    rows: list[list[Cell]] = [[each.question, len(each.queries)] for each in questions]
    if rows:
        yield Table(["Question", "Searches"], rows, title="Questions")
    searches: list[list[Cell]] = [
        [each.question, query] for each in questions for query in each.queries
    ]
    if searches:
        yield Table(["For the question", "Search"], searches, title="Searches", detail=True)


def _step(phase: PlanPhase) -> Step:
    size = counted(len(phase.tasks), "task") if phase.tasks else ""
    end = f"Done when {phase.done_when}" if phase.done_when else ""
    return Step(phase.name, text=" ".join(told([phase.description, end])) or size)


def _tasks(phases: Sequence[PlanPhase]) -> list[Block]:
    rows: list[list[Cell]] = [
        [phase.name, task.task, task.model, task.agents] for phase in phases for task in phase.tasks
    ]
    columns = ["Phase", "Task", "Model", "Agents"]
    return [Table(columns, rows, title="Tasks of the phases", detail=True)] if rows else []


def _bounds(plan: ResearchPlan) -> list[tuple[str, Cell]]:
    return [
        ("Rounds", plan.rounds),
        ("Most sources", plan.most_sources),
        ("Cost", cost_words(plan)),
        ("Rests on", plan.cost_basis),
    ]
