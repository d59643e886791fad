"""Asks a model to put findings together: claims, what contradicts, what stays open."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.findings import numbered
from vr_plugin_research.instructions.task import Task

_ASKED = """\
Topic of the research: {topic}
{context}Questions, with their numbers:
{questions}

Findings whose quotes were looked up in their sources. Each has its id, the number of its source,
and the origin of that source; findings of one origin count once.

=== source findings
{findings}
=== source findings ends

Write the result from these findings alone:
- `claims`: join findings that say the same into one claim, and name under `supports` the ids of all
  findings that carry it and under `contradicts` those that speak against it. A claim without a
  finding is not allowed. Give its tier, confidence, and the reasoning in one or two sentences.
- `contradictions`: every pair of findings that cannot both hold, by kind: number, date, scope (they
  speak of different things), method. Never average them away.
- `executive_summary`: the answer to the topic in 120 to 300 words, the most certain first, naming
  what contradicts and what could not be established.
- `open_questions`, `methodology_critique` (how far this evidence carries, and its blind spots),
  `recommendations` (what to do or to find out next)."""


class WrittenClaim(BaseModel):
    """A claim as the model puts it together."""

    claim: str
    question: int = Field(0, description="number of the question that it answers")
    tier: str = "INFERENCE"
    confidence: float = Field(0.5, description="0 to 1")
    reasoning: str = ""
    supports: list[str] = Field(description="ids of findings that carry it")
    contradicts: list[str] = Field([], description="ids of findings against it")


class WrittenContradiction(BaseModel):
    """Two findings that cannot both hold."""

    a: str = Field(description="id of a finding")
    b: str = Field(description="id of the other one")
    kind: Literal["number", "date", "scope", "method"] = "scope"
    explanation: str = ""


class Synthesis(BaseModel):
    """A whole answer."""

    executive_summary: str
    claims: list[WrittenClaim]
    contradictions: list[WrittenContradiction] = []
    open_questions: list[str] = []
    methodology_critique: str = ""
    recommendations: list[str] = []


TASK = Task("synthesis", 1, "deep", SYSTEM, Synthesis)


def make_prompt(topic: str, context: str, questions: Sequence[str], findings: Sequence[str]) -> str:
    """Return the prompt; each finding begins with its id."""
    return _ASKED.format(
        topic=topic,
        context=f"Context: {context}\n" if context else "",
        questions=numbered(questions),
        findings="\n".join(findings),
    )
