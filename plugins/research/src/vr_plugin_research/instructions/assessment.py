"""Asks a model for what sources say for and against one claim."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Literal

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_READ = """\
A claim, which may be wrong: {claim}
{context}
Report what this source says for it and against it. For each finding give in `stance` whether it
supports or contradicts the claim, in `quote` the words of the source, copied verbatim and in their
language, 4 to 40 words, and in `place` the place in brackets before the part where they stand. What
has nothing to do with the claim is no finding; report none when the source has none."""
_JUDGE = """\
A claim: {claim}
{context}
What the sources say about it; each quote was looked up.

=== source findings
{findings}
=== source findings ends

Give the tier of the claim, your confidence from 0 to 1, and the reasoning in two to four sentences:
what carries it, what speaks against it, and what would have to be known to be sure."""


class StanceFinding(BaseModel):
    """A quote for or against the claim."""

    stance: Literal["supports", "contradicts"]
    quote: str = Field(description="verbatim words of the source")
    place: str = ""
    reasoning: str = ""


class StanceFindings(BaseModel):
    """All that one source says about the claim."""

    findings: list[StanceFinding]


class Judgement(BaseModel):
    """The judgement of the claim."""

    tier: str
    confidence: float = Field(description="0 to 1")
    reasoning: str


READ = Task("assessment-read", 1, "default", SYSTEM, StanceFindings)
JUDGE = Task("assessment-judge", 1, "default", SYSTEM, Judgement)


def read_prompt(claim: str, context: str) -> str:
    """Return the prompt to read one source."""
    return _READ.format(claim=claim, context=_told(context))


def judge_prompt(claim: str, context: str, findings: Sequence[str]) -> str:
    """Return the prompt to judge the claim by all findings."""
    told = "\n".join(findings) or "Nothing."
    return _JUDGE.format(claim=claim, context=_told(context), findings=told)


def _told(context: str) -> str:
    return f"Context: {context}\n" if context else ""
