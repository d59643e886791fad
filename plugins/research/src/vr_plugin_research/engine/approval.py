"""Approval points: a person is asked before money is spent, or before a plan is followed."""

from __future__ import annotations

import re

from pydantic import BaseModel, Field
from vr_kernel import Call, Code, VrError

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.planning.costs import cost_of
from vr_plugin_research.planning.plans import record_plan
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.plan import MOST_QUESTIONS, PlanQuestion, ResearchPlan


class Approval(BaseModel):
    """The answer to the question for approval."""

    approve: bool = Field(False, description="Go on")


class PlanApproval(BaseModel):
    """The answer to the question for a plan."""

    approve: bool = Field(False, description="Follow this plan")
    questions: str = Field(
        "", description="Your own questions instead, with ; between them; empty keeps these"
    )


async def approved_spending(call: Call, request: ResearchRequest) -> None:
    """Ask if the cost is agreed to.

    Raises:
        VrError: CANCELLED, category NOT_APPROVED, when it is not, or when nobody can be asked.
    """
    cost = cost_of(call, request.limits)
    told = (
        f"about ${cost.low_usd:.2f} to ${cost.high_usd:.2f}"
        if cost.low_usd is not None and cost.high_usd is not None
        else f"an unknown amount ({cost.basis})"
    )
    most = f", at most ${request.budget_usd:.2f}" if request.budget_usd else ""
    question = f"This research costs {told}{most}. Shall it begin?\n{request.topic}"
    answer = await call.ask(question, Approval, default=Approval())
    if not answer.approve:
        raise VrError(
            "The cost was not approved, so nothing was begun.",
            Code.CANCELLED,
            category="NOT_APPROVED",
            hint=f"It would cost {told}. Leave 'spend' out of approve to begin without asking.",
        )


async def approved_plan(call: Call, dossier: Dossier, plan: ResearchPlan) -> ResearchPlan | None:
    """Ask if the plan is agreed to; the dossier gets the questions of a person.

    Silence is no approval: where nobody can be asked, or the answer is no, the plan is recorded and
    returned, to be followed by another call.
    """
    listed = "\n".join(f"{number}. {it.question}" for number, it in enumerate(plan.questions, 1))
    answer = await call.ask(
        f"Plan for: {plan.topic}\n{listed}", PlanApproval, default=PlanApproval()
    )
    told = re.split(r"[;\n]", answer.questions)
    own = [line.strip()[:500] for line in told if line.strip()]
    if own:
        dossier.questions = [PlanQuestion(question=it) for it in own[:MOST_QUESTIONS]]
    return None if answer.approve or own else record_plan(call, plan)
