"""Asks a model for the map of a document, and for how several documents agree."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel, Field

from vr_plugin_research.instructions.analyst import SYSTEM
from vr_plugin_research.instructions.task import Task

_MAP = """\
Question of the research: {instruction}

Map this document: its title, what kind of document it is, a summary in three to six sentences, its
sections with their places in brackets and what each is about, and the claims that matter for the
question, in its own terms. Map what is there; do not judge it yet."""
_CROSS = """\
Question of the research: {instruction}

Maps and findings of {count} documents, each by the number of its source.

=== source documents
{told}
=== source documents ends

Compare them: for each topic that several of them speak of, say where they agree, where they
disagree, and which sources (by number). Name what only one of them has where it matters for the
question."""


class MappedSection(BaseModel):
    """A part of a document."""

    title: str
    place: str = ""
    summary: str = ""


class Mapped(BaseModel):
    """The map of one document."""

    title: str
    kind: str = ""
    summary: str
    sections: list[MappedSection] = []
    key_claims: list[str] = []


class Crossed(BaseModel):
    """A topic of several documents."""

    topic: str
    agreement: str = ""
    disagreement: str = ""
    sources: list[int] = Field([], description="numbers of the sources")


class CrossReferences(BaseModel):
    """All topics that several documents share."""

    topics: list[Crossed]


MAP = Task("document-map", 1, "default", SYSTEM, Mapped)
CROSS = Task("cross-reference", 1, "deep", SYSTEM, CrossReferences)


def map_prompt(instruction: str) -> str:
    """Return the prompt to map one document."""
    return _MAP.format(instruction=instruction)


def cross_prompt(instruction: str, told: Sequence[str]) -> str:
    """Return the prompt to compare documents; each text begins with the number of its source."""
    return _CROSS.format(instruction=instruction, count=len(told), told="\n\n".join(told))
