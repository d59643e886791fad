"""Asks a model for the questions that a topic comes down to, and the first searches for them."""

from __future__ import annotations

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_ASKED = """\
Topic of the research: {topic}
{context}
Scope: {scope}.

Break the topic into {least} to {most} questions that can be answered by evidence, the most
important first. Each stands alone, names what it is about, and can be told answered from not
answered. Include one that would show the usual view to be wrong, where there is such a view. For
each give one to three searches, as one would type them into a search engine."""


class AskedQuestion(BaseModel):
    """A question, and searches for its answer."""

    question: str
    queries: list[str] = Field(description="one to three searches")


class Questions(BaseModel):
    """A whole answer."""

    questions: list[AskedQuestion]
    stakeholders: list[str] = Field([], description="whom the answer matters to")
    constraints: list[str] = Field([], description="limits of time, place or method")


TASK = Task("questions", 1, "default", SYSTEM, Questions)


def make_prompt(topic: str, context: str, scope: str, least: int, most: int) -> str:
    """Return the prompt."""
    told = f"Context: {context}\n" if context else ""
    return _ASKED.format(topic=topic, context=told, scope=scope, least=least, most=most)
