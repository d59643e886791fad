"""`write`: puts the findings together into a report."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from datetime import date
from typing import TypeVar

from vr_kernel import visible, visible_line

from vr_plugin_research.analysts.analyst import Analyst
from vr_plugin_research.dossier.dossier import Dossier
from vr_plugin_research.dossier.entries import Finding
from vr_plugin_research.evidence.quality import weighed
from vr_plugin_research.instructions.synthesis import Synthesis
from vr_plugin_research.results.claims import FOUND, TIERS, Claim, score_of
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.claims import put_together

R = TypeVar("R", bound=ResearchReport)
SUMMARY_CHARS = 6_000
MOST_LINES = 20
_FINDING = re.compile(r"\bF\d+\b")


async def write(
    dossier: Dossier,
    analyst: Analyst,
    settings: ResearchSettings,
    base: R,
    today: date,
) -> R:
    """Return the report: claims with checked quotes, what contradicts, what is not known.

    Args:
        dossier: has the findings.
        analyst: puts them together; sees only findings whose quotes stand.
        settings: has the weights of quality.
        base: has the names of the report.
        today: the date from which the age of sources counts.

    Raises:
        VrError: what the analyst raises.
    """
    sources = sources_of(dossier, settings, today)
    good = standing(dossier, sources)
    # A model that is given nothing would answer from memory, and nobody could check it.
    written = await analyst.synthesize(dossier, good) if good else _nothing(dossier)
    return await assemble(dossier, written, sources, base)


def sources_of(dossier: Dossier, settings: ResearchSettings, today: date) -> list[ReportSource]:
    """The sources that were read, with their quality."""
    citations = {it.id: it.citations for it in dossier.sources if it.citations is not None}
    return weighed([each.source for each in dossier.sources], settings, today, citations)


def standing(dossier: Dossier, sources: Sequence[ReportSource]) -> list[Finding]:
    """The findings whose quotes stand, those of the best sources first."""
    quality = {each.number: each.quality.score for each in sources}
    good = [each for each in dossier.findings if each.citation.status in FOUND]
    return sorted(
        good, key=lambda it: (it.question, -quality.get(it.source, 0.0), TIERS.index(it.tier))
    )


async def assemble(
    dossier: Dossier,
    written: Synthesis,
    sources: Sequence[ReportSource],
    base: R,
) -> R:
    """Return the report of a synthesis, all of whose quotes are those that were looked up."""
    claims, contradictions = await put_together(dossier, written, sources)
    cited = Counter(each.source for claim in claims for each in claim.citations)
    return base.model_copy(
        update={
            "executive_summary": _summary(written.executive_summary, claims, dossier),
            "findings": claims,
            "contradictions": contradictions,
            "open_questions": _lines(written.open_questions),
            "methodology_critique": visible(written.methodology_critique)[:SUMMARY_CHARS].strip(),
            "recommendations": _lines(written.recommendations),
            "sources": [each.model_copy(update={"cited": cited[each.number]}) for each in sources],
            "failures": [each.failure for each in dossier.failures],
            "score": score_of(claims),
        }
    )


def _nothing(dossier: Dossier) -> Synthesis:
    told = f"Nothing that stands in a source was found about: {dossier.topic}"
    return Synthesis(executive_summary=told, claims=[])


def _summary(text: str, claims: Sequence[Claim], dossier: Dossier) -> str:
    """The summary, whose ids of findings become those of their claims."""
    homes = {(it.source, it.quote): claim.id for claim in claims for it in claim.supporting}
    ids = {it.id: homes.get((it.source, it.citation.quote), it.id) for it in dossier.findings}
    told = _FINDING.sub(lambda match: ids.get(match[0], match[0]), visible(text))
    return told[:SUMMARY_CHARS].strip()


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts[:MOST_LINES] if (line := visible_line(text, 600))]
