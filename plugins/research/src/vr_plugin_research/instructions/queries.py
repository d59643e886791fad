"""Asks a model for further searches, for the questions that are still open."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_ASKED = """\
Topic of the research: {topic}

Questions that are not answered yet, with their numbers:
{gaps}

Searches that were made already:
{made}

What was found so far:
{known}

Give up to {most} new searches that would close these gaps, the most useful first: other words,
other kinds of sources, the opposing view, the original of what is only reported. Do not repeat a
search. Give none where another search would not help."""


class NextQuery(BaseModel):
    """A search, and why it is made."""

    query: str
    question: int = Field(description="number of the question that it is for")
    reason: str


class NextQueries(BaseModel):
    """A whole answer."""

    queries: list[NextQuery]


TASK = Task("queries", 1, "fast", SYSTEM, NextQueries)


def make_prompt(
    topic: str,
    gaps: Sequence[tuple[int, str]],
    made: Sequence[str],
    known: Sequence[str],
    most: int,
) -> str:
    """Return the prompt."""
    return _ASKED.format(
        topic=topic,
        gaps="\n".join(f"{number}. {text}" for number, text in gaps),
        made="\n".join(f"- {each}" for each in made) or "- none",
        known="\n".join(f"- {each}" for each in known) or "- nothing",
        most=most,
    )
