"""The protocol of analysts, who do what needs judgement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Protocol

from vr_kernel import Document

from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding, Found, RawFinding
from vr_plugin_research.instructions.synthesis import Synthesis
from vr_plugin_research.results.plan import PlanQuestion
from vr_plugin_research.results.report import Engine, Scope


@dataclass(frozen=True, slots=True)
class NewQuery:
    """A search that an analyst proposes, for the question of that number, from 0."""

    text: str
    question: int
    reason: str = ""


@dataclass(frozen=True, slots=True)
class Judged:
    """A result of a search as an analyst judges it; `id` is that of the result."""

    id: int
    keep: bool
    relevance: float
    reason: str = ""


class Analyst(Protocol):
    """Asks, judges, reads and puts together."""

    engine: Engine

    async def questions(self, dossier: Dossier, scope: Scope) -> list[PlanQuestion]:
        """The questions that the topic comes down to, with first searches."""

    async def queries(self, dossier: Dossier, gaps: Sequence[int], most: int) -> list[NewQuery]:
        """Further searches for the questions of these numbers, at most so many."""

    async def judge(self, dossier: Dossier, found: Sequence[Found]) -> list[Judged]:
        """Judge the results of searches by what they promise."""

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """Report what a source says about the questions, with its words."""

    async def synthesize(self, dossier: Dossier, findings: Sequence[Finding]) -> Synthesis:
        """The result of these findings, which are named by their ids."""
