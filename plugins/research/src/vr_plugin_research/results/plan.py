"""Plans of research: phases, tasks, questions, and what they would cost."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import BaseModel, BeforeValidator, Field
from vr_kernel import Usage

from vr_plugin_research.results.report import Engine, Scope

MOST_QUESTIONS = 12
MOST_QUERIES = 40
Line = Annotated[str, Field(min_length=1, max_length=500)]
Text = Annotated[str, Field(max_length=4_000)]


class PlanTask(BaseModel):
    """A task of a phase, and who does it."""

    task: Text
    model: str = Field("", max_length=200, description="role or model for it")
    agents: int = Field(1, ge=1, le=50)


class PlanPhase(BaseModel):
    """A phase: what is done in it, and how it is known to be done."""

    name: Line
    description: Text = ""
    tasks: list[PlanTask] = Field([], max_length=50)
    done_when: Text = ""


class PlanQuestion(BaseModel):
    """A question that the research shall answer, and searches for it."""

    question: Line
    queries: list[Line] = Field([], max_length=MOST_QUERIES)


def _as_questions(given: object) -> object:
    """Take questions that stand as plain texts, as people write them."""
    if not isinstance(given, list):
        return given
    return [{"question": each} if isinstance(each, str) else each for each in given]


class ResearchPlan(BaseModel):
    """A plan. `research_deep(plan=…)` follows it, also after somebody changed it."""

    topic: str
    scope: Scope = "moderate"
    questions: Annotated[
        list[PlanQuestion], BeforeValidator(_as_questions), Field(max_length=MOST_QUESTIONS)
    ] = []
    phases: list[PlanPhase] = Field([], max_length=20)
    task_decomposition: list[Text] = Field([], max_length=100)
    stakeholders: list[Line] = Field([], max_length=20)
    constraints: list[Line] = Field([], max_length=20)
    documents: list[str] = Field([], max_length=100, description="given sources")
    search_in: list[Literal["web", "papers", "knowledge"]] | None = None
    budget_usd: float | None = Field(None, gt=0, le=10_000)
    plan_id: str | None = None
    structured: bool = Field(True, description="false: text has the plan as the model wrote it")
    text: str = ""
    rounds: int | None = None
    most_sources: int | None = None
    cost_low_usd: float | None = None
    cost_high_usd: float | None = None
    cost_basis: str = ""
    engine: Engine = "model"
    model: str = ""
    limits: list[str] = []
    usage: Usage | None = None
