"""Asks a model which results of a search are worth reading."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_ASKED = """\
Topic of the research: {topic}
Questions:
{questions}

Results of searches, each with its number:

=== source list
{results}
=== source list ends

Judge every result by its number: how much it promises for these questions (0 to 1), and whether it
is worth reading. Keep originals (studies, standards, data, documentation, the people concerned)
over retellings, and sources that may contradict the others. Drop advertising, copies of other
results, and what is about something else."""


class Judgement(BaseModel):
    """The judgement of one result."""

    id: int = Field(description="number of the result")
    keep: bool
    relevance: float = Field(description="0 to 1")
    reason: str = ""


class Judgements(BaseModel):
    """A whole answer."""

    results: list[Judgement]


TASK = Task("selection", 1, "fast", SYSTEM, Judgements)


def make_prompt(topic: str, questions: Sequence[str], results: Sequence[str]) -> str:
    """Return the prompt; each result begins with its number."""
    return _ASKED.format(
        topic=topic,
        questions="\n".join(f"- {each}" for each in questions),
        results="\n".join(results),
    )
