"""Asks a model for a plan of research: phases, tasks, and who does them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_ASKED = """\
Topic of the research: {topic}
Scope: {scope}. Up to {agents} agents can work at the same time; {limits}

Plan the research. Give the questions that it comes down to, each with one to three searches; the
phases in order, each with its tasks, the model for each task (`fast` for searching and sorting,
`default` for reading, `deep` for putting together), how many agents share it, and how one knows
that the phase is done; and the whole as a flat list of tasks (`task_decomposition`). Name
stakeholders and constraints where there are any. The plan is a blueprint: nobody begins to work by
it."""


class PlannedQuestion(BaseModel):
    """A question, and searches for its answer."""

    question: str
    queries: list[str]


class PlannedTask(BaseModel):
    """A task, and who does it."""

    task: str
    model: str = Field("default", description="fast, default or deep")
    agents: int = 1


class PlannedPhase(BaseModel):
    """A phase."""

    name: str
    description: str = ""
    tasks: list[PlannedTask]
    done_when: str = ""


class Planned(BaseModel):
    """A whole answer."""

    questions: list[PlannedQuestion]
    phases: list[PlannedPhase]
    task_decomposition: list[str]
    stakeholders: list[str] = []
    constraints: list[str] = []


TASK = Task("plan", 1, "deep", SYSTEM, Planned)


def make_prompt(topic: str, scope: str, agents: int, rounds: int, sources: int) -> str:
    """Return the prompt."""
    limits = f"at most {rounds} rounds of searching and {sources} sources."
    return _ASKED.format(topic=topic, scope=scope, agents=agents, limits=limits)
