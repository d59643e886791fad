"""The analyst that is a language model."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import (
    Call,
    Document,
    ModelInfo,
    Role,
    Segment,
    estimate_tokens,
    visible_line,
)

from vr_plugin_research.analysts.analyst import Judged, NewQuery
from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding, Found, RawFinding
from vr_plugin_research.evidence.parts import nearest_parts
from vr_plugin_research.evidence.tiers import tier_of
from vr_plugin_research.instructions import findings, queries, questions, selection, synthesis
from vr_plugin_research.instructions.synthesis import Synthesis
from vr_plugin_research.results.plan import MOST_QUESTIONS, PlanQuestion
from vr_plugin_research.results.report import Engine, Scope
from vr_plugin_research.settings import ResearchSettings

QUESTIONS = {"quick": (2, 3), "moderate": (3, 5), "deep": (5, 8), "comprehensive": (6, 12)}
"""Least and most questions of a scope."""
MOST_FINDINGS = 12
"""Findings of one source that are asked for."""
JUDGED_AT_ONCE = 40
KNOWN = 30
UNKNOWN_WINDOW = 100_000
"""Tokens that a model takes whose window is not known."""
SHARE = 0.6
"""Part of a window that findings or a source may fill."""


class ModelAnalyst:
    """Has language models ask, judge, read and write; see `Analyst`."""

    engine: Engine = "model"

    def __init__(self, call: Call, asking: Asking) -> None:
        self._asking = asking
        self._models = call.services.models
        self._settings: ResearchSettings = call.settings

    async def questions(self, dossier: Dossier, scope: Scope) -> list[PlanQuestion]:
        """The questions that the topic comes down to, with first searches."""
        least, most = QUESTIONS[scope]
        asked = questions.make_prompt(dossier.topic, dossier.context, scope, least, most)
        answer = await self._asking.ask(questions.TASK, [asked])
        found = [
            PlanQuestion(question=text, queries=_lines(each.queries, 3))
            for each in answer.questions[:MOST_QUESTIONS]
            if (text := visible_line(each.question, 500))
        ]
        return found or [PlanQuestion(question=dossier.topic[:500], queries=[dossier.topic[:500]])]

    async def queries(self, dossier: Dossier, gaps: Sequence[int], most: int) -> list[NewQuery]:
        """Further searches for the questions that are still open."""
        told = [(at + 1, dossier.questions[at].question) for at in gaps]
        made = [query.text for query in dossier.queries]
        known = [each.claim for each in dossier.findings][-KNOWN:]
        asked = queries.make_prompt(dossier.topic, told, made, known, most)
        answer = await self._asking.ask(queries.TASK, [asked])
        return [
            NewQuery(text, _number(each.question, dossier), visible_line(each.reason, 300))
            for each in answer.queries[:most]
            if (text := visible_line(each.query, 400))
        ]

    async def judge(self, dossier: Dossier, found: Sequence[Found]) -> list[Judged]:
        """Judge the results of searches; one that is not judged is kept."""
        judged: list[Judged] = []
        asked = [each.question for each in dossier.questions]
        for start in range(0, len(found), JUDGED_AT_ONCE):
            some = found[start : start + JUDGED_AT_ONCE]
            told = [_told(each) for each in some]
            prompt = selection.make_prompt(dossier.topic, asked, told)
            answer = await self._asking.ask(selection.TASK, [prompt])
            known = {each.id for each in some}
            judged += [
                Judged(it.id, it.keep, _share(it.relevance), visible_line(it.reason, 300))
                for it in answer.results
                if it.id in known
            ]
        return judged

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """Report what a source says about the questions."""
        asked = [each.question for each in dossier.questions]
        most = min(self._settings.read_tokens, self._room("default"))
        parts = await asyncio.to_thread(nearest_parts, document, [dossier.topic, *asked], most)
        return await self.read_parts(dossier, document, parts)

    async def read_parts(
        self,
        dossier: Dossier,
        document: Document,
        parts: Sequence[Segment],
        part: int = 1,
        count: int = 1,
    ) -> list[RawFinding]:
        """Report what these parts of a source say; they are part `part` of `count`."""
        asked = [each.question for each in dossier.questions]
        prompt = findings.make_prompt(dossier.topic, asked, MOST_FINDINGS, (part, count))
        told = findings.enclosed(visible_line(document.title, 200), document.sha256, parts)
        answer = await self._asking.ask(findings.TASK, [told, prompt])
        return [
            RawFinding(
                claim=claim,
                quote=each.quote.strip(),
                place=each.place,
                question=_number(each.question, dossier),
                tier=tier_of(each.tier),
                confidence=_share(each.confidence),
                reasoning=visible_line(each.reasoning, 600),
            )
            for each in answer.findings[: 2 * MOST_FINDINGS]
            if (claim := visible_line(each.claim, 600))
        ]

    async def synthesize(self, dossier: Dossier, findings: Sequence[Finding]) -> Synthesis:
        """The result of the findings, as many as the model takes."""
        sources = {each.id: each.source for each in dossier.sources}
        room, told = self._room("deep"), []
        for each in findings:
            source = sources[each.source]
            line = (
                f"{each.id} [source {each.source}, {source.origin or source.title}; question"
                f' {each.question + 1}; {each.tier}] {each.claim} - "{each.citation.quote}"'
            )
            room -= estimate_tokens(line)
            if room < 0:
                break
            told.append(visible_line(line))
        asked = [each.question for each in dossier.questions]
        prompt = synthesis.make_prompt(dossier.topic, dossier.context, asked, told)
        return await self._asking.ask(synthesis.TASK, [prompt])

    def _room(self, role: Role) -> int:
        return window_of(self._models.info(role))


def window_of(model: ModelInfo) -> int:
    """The tokens of sources that a model takes in one request."""
    return int((model.context or UNKNOWN_WINDOW) * SHARE)


def _told(found: Found) -> str:
    """A result of a search in one line."""
    told = [found.title, found.address, found.published, found.snippet]
    return visible_line(f"{found.id}. {' | '.join(filter(None, told))}", 900)


def _lines(texts: Sequence[str], most: int) -> list[str]:
    return [line for text in texts[:most] if (line := visible_line(text, 400))]


def _number(told: int, dossier: Dossier) -> int:
    """The number of a question from 0, of one that a model counts from 1."""
    return told - 1 if 1 <= told <= len(dossier.questions) else 0


def _share(value: float) -> float:
    return min(max(value, 0.0), 1.0) if value == value else 0.0  # noqa: PLR0124 - NaN is not itself
