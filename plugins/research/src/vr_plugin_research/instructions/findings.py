"""Asks a model for what a source says about the questions, word for word."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field
from vr_kernel import Segment, visible_line

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

MARK_CHARS, TITLE_CHARS = 12, 200
_ASKED = """\
Topic of the research: {topic}
Questions, with their numbers:
{questions}

Report what this source says that answers one of these questions, and what speaks against the usual
answer. For each finding give in `claim` one sentence that stands alone, with its numbers, dates and
names; in `quote` the words of the source that carry it, copied verbatim and in their language, 4 to
40 words; in `place` the place in brackets before the part where they stand; in `tier` and
`confidence` how well this source alone carries the claim. Report at most {most} findings, the most
telling first; report none when the source has none."""
_PART = "This is part {number} of {count} of the source. Report this part alone."


class ReadFinding(BaseModel):
    """A finding as the model reports it."""

    claim: str
    question: int = Field(description="number of the question that it answers")
    quote: str = Field(description="verbatim words of the source")
    place: str = Field("", description="the place in brackets before them")
    tier: str = "STRONG INDICATOR"
    confidence: float = Field(0.5, description="0 to 1")
    reasoning: str = ""


class ReadFindings(BaseModel):
    """A whole answer."""

    findings: list[ReadFinding]


TASK = Task("findings", 1, "default", SYSTEM, ReadFindings)


def make_prompt(topic: str, questions: Sequence[str], most: int, part: tuple[int, int]) -> str:
    """Return the prompt; `part` is the number of this part of the source, and their count."""
    asked = _ASKED.format(topic=topic, questions=numbered(questions), most=most)
    number, count = part
    return f"{asked}\n{_PART.format(number=number, count=count)}" if count > 1 else asked


def numbered(questions: Sequence[str]) -> str:
    """Questions with their numbers, from 1."""
    return "\n".join(f"{number}. {text}" for number, text in enumerate(questions, 1))


def enclosed(title: str, sha256: str, segments: Sequence[Segment]) -> str:
    """Return parts of a source between lines that its text cannot imitate.

    The lines hold a part of its digest, which no text can hold of itself.
    """
    mark = f"=== source {sha256[:MARK_CHARS]}"
    told = "\n\n".join(f"[{each.locator.label or 'text'}]\n{each.text}" for each in segments)
    return f"{mark}, {visible_line(title, TITLE_CHARS)}\n\n{told}\n\n{mark} ends"
