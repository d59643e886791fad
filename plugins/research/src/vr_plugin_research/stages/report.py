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
from vr_plugin_research.dossier.entries import Finding, Found, ReadSource
from vr_plugin_research.evidence.origins import paper_ids
from vr_plugin_research.evidence.quality import weighed
from vr_plugin_research.gathering.addresses import plain_address
from vr_plugin_research.instructions.synthesis import Synthesis
from vr_plugin_research.results.claims import FOUND, TIERS, Citation, Claim, score_of
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.results.sources import ReportSource
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.claims import put_together

R = TypeVar("R", bound=ResearchReport)
SUMMARY_CHARS = 6_000
MOST_LINES = 20
_FINDING = re.compile(r"F\d+")
_NAMED = re.compile(r"\s*[\[(]\s*F\d+(?:\s*[,;]\s*F\d+)*\s*[\])]")


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
    retracted = _retracted(dossier)
    told = [_held(each, dossier, retracted) for each in dossier.sources]
    return weighed(told, settings, today, citations)


def _retracted(dossier: Dossier) -> set[str]:
    """The addresses and ids of what an index of papers calls retracted, in any of its forms."""
    gone = [it for it in dossier.found if str(it.details.get("retracted")).casefold() == "yes"]
    return {name for each in gone for name in _names(each)}


def _names(found: Found) -> set[str]:
    return {plain_address(found.address), *paper_ids(found.address, found.details)}


def _held(read: ReadSource, dossier: Dossier, retracted: set[str]) -> ReportSource:
    """A source with its retraction, also where it was found in another form before."""
    found = next((each for each in dossier.found if each.id == read.found), None)
    if found is None or retracted.isdisjoint(_names(found)):
        return read.source
    quality = read.source.quality.model_copy(update={"retracted": True})
    return read.source.model_copy(update={"quality": quality})


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
    citations = [each for claim in claims for each in claim.citations]
    return base.model_copy(
        update={
            "executive_summary": _summary(written.executive_summary, claims, dossier),
            "findings": claims,
            "contradictions": contradictions,
            "open_questions": _lines(written.open_questions),
            "methodology_critique": visible(written.methodology_critique)[:SUMMARY_CHARS].strip(),
            "recommendations": _lines(written.recommendations),
            "sources": with_counts(sources, citations),
            "failures": [each.failure for each in dossier.failures],
            "score": score_of(claims),
        }
    )


def with_counts(
    sources: Sequence[ReportSource], citations: Sequence[Citation]
) -> list[ReportSource]:
    """Sources with the number of times that each is cited."""
    cited = Counter(each.source for each in citations)
    return [each.model_copy(update={"cited": cited[each.number]}) for each in sources]


def _nothing(dossier: Dossier) -> Synthesis:
    told = f"Nothing that stands in a source was found about: {dossier.topic}"
    return Synthesis(executive_summary=told, claims=[])


def _summary(text: str, claims: Sequence[Claim], dossier: Dossier) -> str:
    """The summary, whose ids of findings become those of their claims."""
    homes = {(it.source, it.quote): claim.id for claim in claims for it in claim.supporting}
    ids = {it.id: homes.get((it.source, it.citation.quote), it.id) for it in dossier.findings}

    def named(match: re.Match[str]) -> str:
        known = dict.fromkeys(ids[each] for each in _FINDING.findall(match[0]) if each in ids)
        return f" [{', '.join(known)}]" if known else ""

    return _NAMED.sub(named, visible(text))[:SUMMARY_CHARS].strip()


def _lines(texts: Sequence[str]) -> list[str]:
    return [line for text in texts[:MOST_LINES] if (line := visible_line(text, 600))]
