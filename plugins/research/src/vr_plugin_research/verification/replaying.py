"""Checks of a report made again: against the texts that were kept, or against the sources now."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping
from dataclasses import dataclass

from vr_kernel import Call, Code, Document, VrError

from vr_plugin_research.dossier.job_dossier import JobDossier
from vr_plugin_research.evidence.quotes import SourceQuotes
from vr_plugin_research.evidence.tiers import held_to
from vr_plugin_research.gathering.addresses import TEXT
from vr_plugin_research.gathering.loading import load, load_recorded
from vr_plugin_research.results.claims import FOUND, Citation, Claim, score_of
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.results.verification import (
    Change,
    CitationCheck,
    ClaimCheck,
    Verification,
)
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.together import each_of

GONE = "The kept text of the source is gone."


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of a source, or the reason why there is none."""

    document: Document | None
    reason: str = ""


class Replay:
    """All checks of one report, made again.

    Args:
        call: that reads.
        report: whole.
        refresh: fetch the sources anew; else the kept texts are used, and no network.
    """

    def __init__(self, call: Call, report: ResearchReport, *, refresh: bool) -> None:
        self._call = call
        self._report = report
        self._refresh = refresh
        self._dossier = JobDossier(call, report.topic)
        self._done = 0

    async def verify(self) -> Verification:
        """Look up every quote again, and hold every claim to what still stands."""
        settings: ResearchSettings = self._call.settings
        sources = self._report.sources
        loaded = await each_of(sources, settings.concurrency, self._text)
        texts = {it.number: text for it, text in zip(sources, loaded, strict=True)}
        return await asyncio.to_thread(self._compared, texts)

    async def _text(self, source: ReportSource) -> _Text:
        try:
            return _Text(await self._document(source))
        except VrError as error:
            gone = error.code is Code.NOT_FOUND and not self._refresh
            return _Text(None, GONE if gone else f"{error.message} {error.hint}".strip())
        finally:
            self._done += 1
            self._call.progress(self._done, len(self._report.sources), source.title[:60])

    async def _document(self, source: ReportSource) -> Document:
        if not self._refresh or source.source.startswith(TEXT):
            return await self._dossier.document(source.snapshot)
        if source.kind == "record":
            try:
                return await load_recorded(self._call, source.source)
            except VrError:
                return await load(self._call, source.source, {})
        return await load(self._call, source.source, {})

    def _compared(self, texts: Mapping[int, _Text]) -> Verification:
        """Compare every check with the one before; blocks."""
        indexes = {
            number: SourceQuotes(text.document) for number, text in texts.items() if text.document
        }
        now = [self._checked(claim, indexes) for claim in self._report.findings]
        claims = [self._claim(*pair) for pair in zip(self._report.findings, now, strict=True)]
        changed = [each for each in claims if each.change != "unchanged"]
        reasons = [
            f"Source {number}: {text.reason}" for number, text in texts.items() if text.reason
        ]
        return Verification(
            report_id=self._report.report_id,
            topic=self._report.topic,
            refreshed=self._refresh,
            claims=len(now),
            stand=sum(any(each.status in FOUND for each in it.supporting) for it in now),
            score=score_of(now),
            changed_claims=changed,
            changed_citations=[
                check
                for claim, fresh in zip(self._report.findings, now, strict=True)
                for check in _differences(claim, fresh, texts)
            ],
            limits=reasons,
        )

    def _checked(self, claim: Claim, indexes: Mapping[int, SourceQuotes]) -> Claim:
        citations = [self._citation(each, indexes) for each in claim.citations]
        fresh = claim.model_copy(update={"citations": citations})
        return held_to(fresh, self._report.sources)

    @staticmethod
    def _citation(citation: Citation, indexes: Mapping[int, SourceQuotes]) -> Citation:
        index = indexes.get(citation.source)
        if index is None:
            return citation.model_copy(update={"status": "unchecked"})
        claimed = citation.original_place or citation.place
        found = index.check(citation.source, citation.quote, claimed, citation.stance)
        return found.model_copy(update={"quote": citation.quote})

    @staticmethod
    def _claim(before: Claim, now: Claim) -> ClaimCheck:
        return ClaimCheck(
            claim=before.id,
            text=before.claim,
            change=_change(before, now),
            tier_before=before.evidence_tier,
            tier_now=now.evidence_tier,
        )


def _change(before: Claim, now: Claim) -> Change:
    """Tell what became of the evidence of a claim; `stale` when no quote for it stands any more."""
    pairs = [*zip(before.citations, now.citations, strict=True)]
    if all(one.status == other.status for one, other in pairs):
        return "unchanged"
    stood = [other for one, other in pairs if one.status in FOUND and one.stance == "supports"]
    if any(each.status == "unchecked" for each in stood or now.citations):
        return "unchecked"
    return "changed" if not stood or any(each.status in FOUND for each in stood) else "stale"


def _differences(before: Claim, now: Claim, texts: Mapping[int, _Text]) -> list[CitationCheck]:
    return [
        CitationCheck(
            claim=before.id,
            source=one.source,
            quote=one.quote,
            before=one.status,
            now=other.status,
            place=other.place,
            reason=texts[one.source].reason if one.source in texts else "",
        )
        for one, other in zip(before.citations, now.citations, strict=True)
        if one.status != other.status
    ]
