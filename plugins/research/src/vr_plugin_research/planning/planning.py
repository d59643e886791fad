"""Makes plans of research, with a model or from headings, and prices them."""

from __future__ import annotations

from vr_kernel import Call, Code, VrError, visible, visible_line

from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.analysts.local_analyst import LocalAnalyst
from vr_plugin_research.dossier.job_dossier import JobDossier
from vr_plugin_research.instructions import plan as instruction
from vr_plugin_research.planning.costs import cost_of
from vr_plugin_research.planning.plans import plan_of, record_plan
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.plan import (
    MOST_QUESTIONS,
    PlanPhase,
    PlanQuestion,
    PlanTask,
    ResearchPlan,
)

TEXT_CHARS = 20_000
WITHOUT_MODEL = "No language model was asked: the questions are the topic and what is known of it."
LOCAL_PHASES = (
    ("Scope", "Settle what has to be answered, and what would count as an answer."),
    ("Gather", "Search the web, papers and the knowledge base; read what is kept."),
    ("Check", "Look every quote up in its source; find what contradicts."),
    ("Write", "Put together what stands; list what could not be established."),
)


async def make_plan(
    call: Call, request: ResearchRequest, agents: int, *, by_model: bool
) -> ResearchPlan:
    """Make a plan and record it; the text that was paid for is kept when it has no form.

    Raises:
        VrError: what the model raises, unless its answer was paid for.
    """
    plan = await (_by_model(call, request, agents) if by_model else _locally(call, request))
    cost = cost_of(call, request.limits) if by_model else None
    if cost is not None:
        told = {
            "cost_low_usd": cost.low_usd,
            "cost_high_usd": cost.high_usd,
            "cost_basis": cost.basis,
        }
        plan = plan.model_copy(update=told)
    return record_plan(call, plan)


async def _by_model(call: Call, request: ResearchRequest, agents: int) -> ResearchPlan:
    limits = request.limits
    asked = instruction.make_prompt(
        request.topic, request.scope, agents, limits.rounds, limits.sources
    )
    asking = Asking(call, request.thinking)
    base = plan_of(request, [], "model")
    try:
        planned = await asking.ask(instruction.TASK, [asked])
    except VrError as error:
        if not error.detail or error.code in (Code.AUTH, Code.QUOTA):
            raise
        told = {
            "structured": False,
            "text": visible(str(error.detail))[:TEXT_CHARS],
            "limits": [f"The plan has no form: {error.message}"],
        }
        return base.model_copy(update=told)
    return base.model_copy(
        update={
            "questions": [
                PlanQuestion(question=text, queries=_lines(each.queries, 5, 400))
                for each in planned.questions[:MOST_QUESTIONS]
                if (text := visible_line(each.question, 500))
            ],
            "phases": _phases(planned),
            "task_decomposition": _lines(planned.task_decomposition, 100, 1_000),
            "stakeholders": _lines(planned.stakeholders, 20, 300),
            "constraints": _lines(planned.constraints, 20, 300),
            "model": ", ".join(asking.models),
        }
    )


def _phases(planned: instruction.Planned) -> list[PlanPhase]:
    return [
        PlanPhase(
            name=visible_line(each.name, 300) or f"Phase {number}",
            description=visible(each.description)[:2_000],
            tasks=[
                PlanTask(
                    task=visible(task.task)[:2_000],
                    model=visible_line(task.model, 100),
                    agents=min(max(task.agents, 1), 50),
                )
                for task in each.tasks[:50]
            ],
            done_when=visible(each.done_when)[:1_000],
        )
        for number, each in enumerate(planned.phases[:20], 1)
    ]


async def _locally(call: Call, request: ResearchRequest) -> ResearchPlan:
    dossier = JobDossier(call, request.topic, request.context)
    questions = await LocalAnalyst().questions(dossier, request.scope)
    plan = plan_of(request, questions, "local")
    return plan.model_copy(
        update={
            "phases": [PlanPhase(name=name, description=told) for name, told in LOCAL_PHASES],
            "task_decomposition": [f"{name}: {told}" for name, told in LOCAL_PHASES],
            "limits": [WITHOUT_MODEL],
        }
    )


def _lines(texts: list[str], most: int, chars: int) -> list[str]:
    return [line for text in texts[:most] if (line := visible_line(text, chars))]
