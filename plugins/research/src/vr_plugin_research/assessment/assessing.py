"""Holds one claim against sources: their words for and against it, looked up, then judged."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence

from vr_kernel import Call, Code, Document, Record, VrError, entity_key, find_conflict, visible

from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Failure, RawFinding, ReadSource
from vr_plugin_research.dossier.job_dossier import JobDossier
from vr_plugin_research.engine.answering import put_given
from vr_plugin_research.engine.research import ENDS, begun_at
from vr_plugin_research.evidence.likeness import best_overlap, sentences_of
from vr_plugin_research.evidence.parts import nearest_parts
from vr_plugin_research.evidence.quotes import SourceQuotes
from vr_plugin_research.evidence.tiers import held_to, tier_of
from vr_plugin_research.instructions import assessment as instruction
from vr_plugin_research.instructions.findings import enclosed
from vr_plugin_research.record_kinds import FINDINGS
from vr_plugin_research.reports.recording import finding_record
from vr_plugin_research.results.assessment import EvidenceAssessment
from vr_plugin_research.results.claims import FOUND, Citation, Claim, Stance, score_of
from vr_plugin_research.results.plan import PlanQuestion
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import SourceFailure
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.reading import Reading, failure_of
from vr_plugin_research.stages.report import sources_of, with_counts
from vr_plugin_research.stages.together import each_of
from vr_plugin_research.views.parts import counted

LOCAL = (
    "No language model was asked: the quotes are the sentences most like the claim. Those with"
    " another number, date or negation count as against it; nobody weighed the others."
)
NOTHING = "The sources have no words for it or against it that could be checked."
LEAST = 0.6
"""Overlap with the claim from which a sentence counts as evidence without a model."""
MOST_LOCAL = 3
MOST_FINDINGS = 20


class Assessment:
    """The assessment of one claim.

    Args:
        call: that reads and pays.
        claim: what is claimed.
        context: what the person said besides.
        asking: asks models; None without one.
    """

    def __init__(self, call: Call, claim: str, context: str, asking: Asking | None) -> None:
        self._call = call
        self._claim = claim
        self._context = context
        self._asking = asking
        self._settings: ResearchSettings = call.settings
        self._errors: list[VrError] = []

    async def assess(self, sources: Sequence[str]) -> EvidenceAssessment:
        """Load the sources, look up what they say, and judge the claim.

        Raises:
            VrError: what the model raises when no source could be read by it.
        """
        dossier = JobDossier(self._call, self._claim, self._context)
        dossier.questions = [PlanQuestion(question=self._claim[:500])]
        begun = await begun_at(dossier)
        texts = await put_given(self._call, dossier, sources)
        reading = Reading(self._call, dossier, _Unasked(), texts, _never)
        at_once = self._settings.concurrency
        read = await reading.read(dossier.found, 1, at_once, self._report)
        if not read:
            raise _unread([each.failure for each in dossier.failures])
        lists = await each_of(read, at_once, lambda it: self._said(dossier, it))
        if self._errors and len(self._errors) == len(read):
            raise self._errors[0]
        citations = [citation for each in lists for citation in each]
        total = len(dossier.found)
        self._call.progress(total, total + 1, f"Weighing {counted(len(citations), 'quote')}")
        weighed = with_counts(sources_of(dossier, self._settings, begun.date()), citations)
        claim = Claim(
            id="C1",
            claim=self._claim,
            evidence_tier="CONFIRMED",
            confidence=0.0,
            citations=citations,
        )
        claim = await self._judged(claim)
        claim = held_to(claim, weighed)
        result = EvidenceAssessment(
            claim=self._claim,
            tier=claim.evidence_tier,
            confidence=claim.confidence,
            reasoning=" ".join(filter(None, [claim.reasoning, *claim.notes])),
            supporting=claim.supporting,
            contradicting=claim.contradicting,
            sources=weighed,
            failures=[each.failure for each in dossier.failures],
            score=score_of([claim]),
            engine="model" if self._asking else "local",
            model=", ".join(self._asking.models) if self._asking else "",
            limits=[] if self._asking else [LOCAL],
        )
        self._call.record(_record(self._call, claim, result))
        return result

    def _report(self, done: int, total: int, title: str) -> None:
        self._call.progress(done, total + 1, f"Source {done} of {total}: {title[:60]}")

    async def _said(self, dossier: JobDossier, read: ReadSource) -> list[Citation]:
        """The quotes of one source for the claim and against it; none where the model fails."""
        try:
            return await self._citations(dossier, read)
        except VrError as error:
            if error.category == "LEASE_LOST" or error.code is Code.BUDGET:
                raise
            self._errors.append(error)
            failure = failure_of(read.source.source, error)
            await dossier.put(Failure(id=str(read.found), failure=failure))
            return []

    async def _citations(self, dossier: JobDossier, read: ReadSource) -> list[Citation]:
        """The words of one source about the claim, looked up."""
        document = await dossier.document(read.source.snapshot)
        if self._asking is None:
            said = await asyncio.to_thread(self._nearest, document)
        else:
            parts = await asyncio.to_thread(
                nearest_parts, document, [self._claim], self._settings.read_tokens
            )
            told = enclosed(document.title, document.sha256, parts)
            prompt = instruction.read_prompt(self._claim, self._context)
            answer = await self._asking.ask(instruction.READ, [told, prompt])
            told_of = [it for it in answer.findings[:MOST_FINDINGS] if it.quote.strip()]
            said = [(it.quote, it.place, it.stance) for it in told_of]

        def look_up() -> list[Citation]:
            quotes = SourceQuotes(document)
            return [quotes.check(read.id, quote, place, stance) for quote, place, stance in said]

        return await asyncio.to_thread(look_up)

    def _nearest(self, document: Document) -> list[tuple[str, str, Stance]]:
        """The sentences most like the claim; blocks."""
        scored = [
            (best_overlap([self._claim], sentence)[0], sentence, segment.locator.label)
            for segment in document.segments
            for sentence in sentences_of(segment)
        ]
        best = sorted(scored, key=lambda row: -row[0])[:MOST_LOCAL]
        return [
            (text, place, "contradicts" if find_conflict(self._claim, text) else "supports")
            for score, text, place in best
            if score >= LEAST
        ]

    async def _judged(self, claim: Claim) -> Claim:
        """The claim with tier and confidence: by a model, which sees only quotes that stand."""
        found = [each for each in claim.citations if each.status in FOUND]
        if not found:  # a model that is given nothing would judge from memory
            return claim.model_copy(update={"evidence_tier": "UNKNOWN", "notes": [NOTHING]})
        if self._asking is None:
            return claim.model_copy(update={"evidence_tier": "INFERENCE", "confidence": 0.5})
        lines = [f'[source {it.source}, {it.stance}] "{it.quote}"' for it in found]
        prompt = instruction.judge_prompt(self._claim, self._context, lines)
        try:
            answer = await self._asking.ask(instruction.JUDGE, [prompt])
        except VrError as error:
            if error.code in ENDS:
                raise
            note = f"It was not judged: {error.message}"
            told = {"evidence_tier": "INFERENCE", "confidence": 0.3, "notes": [note]}
            return claim.model_copy(update=told)
        return claim.model_copy(
            update={
                "evidence_tier": tier_of(answer.tier),
                "confidence": answer.confidence,
                "reasoning": visible(answer.reasoning)[:2_000].strip(),
            }
        )


class _Unasked:
    """Reports nothing while sources are loaded; the claim is asked about afterwards."""

    async def read(self, dossier: Dossier, document: Document) -> list[RawFinding]:
        """Report nothing."""
        del dossier, document
        return []


async def _never() -> bool:
    return False


def _unread(failures: Sequence[SourceFailure]) -> VrError:
    reasons = "; ".join(f"{each.source[:200]}: {each.message}" for each in failures[:5])
    return VrError(
        f"No source could be read. {reasons}".strip(),
        Code.UNAVAILABLE,
        category="SOURCES_UNAVAILABLE",
        hint="Give paths or addresses that can be read, ids of records, or texts of a sentence.",
    )


def _record(call: Call, claim: Claim, result: EvidenceAssessment) -> Record:
    """The record of the assessment, as a finding without a report."""
    report = ResearchReport(
        report_id="",
        topic=result.claim[:500],
        scope="quick",
        executive_summary=result.reasoning,
        sources=result.sources,
    )
    made = finding_record(call, report, claim)
    return Record(FINDINGS, made.fields, entity_key(FINDINGS, call.id), made.provenance)
