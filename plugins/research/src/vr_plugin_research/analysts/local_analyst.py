"""The analyst that needs no model: the sources' own sentences, by likeness to the questions."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Document

from vr_plugin_research.analysts.analyst import Judged, NewQuery
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding, Found, RawFinding
from vr_plugin_research.evidence.likeness import (
    best_overlap,
    sense_of,
    sentences_of,
    words_of,
)
from vr_plugin_research.instructions.synthesis import Synthesis, WrittenClaim
from vr_plugin_research.results.plan import PlanQuestion
from vr_plugin_research.results.report import Engine, Scope

LEAST = 0.34
"""Overlap with a question from which a sentence counts as an answer to it."""
MOST_FINDINGS = 8
FOUND = 0.2
"""Relevance of a result none of whose visible words are those of a question."""
SUMMED = 5
AGREED = 0.1
"""Confidence that each further source adds to the order of claims."""
MADE_SO = (
    "No language model was asked: the claims are sentences of the sources that are most like the"
    " questions, and nobody weighed them."
)


class LocalAnalyst:
    """Works by likeness of words; see `Analyst`."""

    engine: Engine = "local"

    def __init__(self, headings: Sequence[str] = ()) -> None:
        """Take the headings of the given sources, which become questions."""
        self._headings = headings

    async def questions(self, dossier: Dossier, scope: Scope) -> list[PlanQuestion]:
        """The topic itself, then headings of the given sources that are about it."""
        del scope
        asked = words_of(dossier.topic)
        near = [it for it in self._headings if words_of(it) & asked and words_of(it) - asked]
        told = list(dict.fromkeys([dossier.topic[:500], *(each[:300] for each in near)]))[:6]
        return [PlanQuestion(question=each, queries=[each]) for each in told]

    async def queries(self, dossier: Dossier, gaps: Sequence[int], most: int) -> list[NewQuery]:
        """The open questions, in words of what was found."""
        made = {query.text.casefold() for query in dossier.queries}
        asked = [(dossier.questions[at].question, at) for at in gaps]
        fresh = [(text, at) for text, at in asked if text.casefold() not in made]
        return [NewQuery(text, at, "not answered yet") for text, at in fresh[:most]]

    async def judge(self, dossier: Dossier, found: Sequence[Found]) -> list[Judged]:
        """Results by how many words of the topic and the questions they have."""
        asked = [dossier.topic, *(each.question for each in dossier.questions)]
        judged = []
        for each in found:
            score, _ = best_overlap(asked, f"{each.title} {each.snippet}")
            # A search found it, by more of its text than is seen here.
            worth = round(FOUND + (1 - FOUND) * score, 3)
            judged.append(Judged(each.id, True, worth, "by likeness of words"))
        return judged

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """The sentences most like a question."""
        return await asyncio.to_thread(_answers, dossier, document)

    async def synthesize(self, dossier: Dossier, findings: Sequence[Finding]) -> Synthesis:
        """Findings that say the same joined; the summary is the best of them."""
        claims = await asyncio.to_thread(_joined, findings)
        known = {each.id: each for each in findings}
        best = [f"- {known[each.supports[0]].citation.quote}" for each in claims[:SUMMED]]
        told = "\n".join(best) or f"Nothing was found about: {dossier.topic}"
        return Synthesis(executive_summary=told, claims=claims, methodology_critique=MADE_SO)


def _answers(dossier: Dossier, document: Document) -> list[RawFinding]:
    """The sentences of a document that answer a question best; blocks."""
    asked = [each.question for each in dossier.questions]
    scored = []
    for at, segment in enumerate(document.segments):
        for sentence in sentences_of(segment):
            score, question = best_overlap(asked, sentence)
            if score >= LEAST:
                scored.append((score, -at, sentence, question, segment.locator.label))
    scored.sort(key=lambda row: (-row[0], -row[1]))
    return [
        RawFinding(
            claim=sentence,
            quote=sentence,
            place=place,
            question=question,
            tier="STRONG INDICATOR",
            confidence=round(score * 0.7, 2),
            reasoning="It has the words of the question.",
        )
        for score, _, sentence, question, place in scored[:MOST_FINDINGS]
    ]


def _joined(findings: Sequence[Finding]) -> list[WrittenClaim]:
    """Findings in groups that say the same; blocks."""
    alike: dict[tuple[str, ...], list[Finding]] = {}
    for finding in findings:
        alike.setdefault(sense_of(finding.claim), []).append(finding)
    groups = [*alike.values()]
    groups.sort(key=lambda group: -(group[0].confidence + AGREED * (len(group) - 1)))
    return [
        WrittenClaim(
            claim=group[0].claim,
            question=group[0].question + 1,
            tier="CONFIRMED" if len(group) > 1 else "STRONG INDICATOR",
            confidence=group[0].confidence,
            reasoning=group[0].reasoning,
            supports=[each.id for each in group],
        )
        for group in groups
    ]
