"""The view of an assessed claim: its tier, the quotes for and against it, its sources."""

from __future__ import annotations

from vr_kernel import Services
from vr_kernel.views import Claim, Claims, View, view

from vr_plugin_research.results.assessment import EvidenceAssessment
from vr_plugin_research.views.parts import counted, part, prose, score_words, told
from vr_plugin_research.views.places import quote_of
from vr_plugin_research.views.sources import failures, sources

TITLE = "Assessment of a claim"


@view(tool="research_assess_evidence")
async def show_assessment(services: Services, assessment: EvidenceAssessment) -> View:
    """Show how well a claim stands."""
    known = {source.number: source for source in assessment.sources}
    support, against = (
        [quote_of(each, known.get(each.source)) for each in quotes]
        for quotes in (assessment.supporting, assessment.contradicting)
    )
    tier = f"{assessment.tier}, confidence {part(assessment.confidence)}"
    return View(
        TITLE,
        [
            Claims([Claim(assessment.claim, tier, support, against)], title="Evidence"),
            *prose("Reasoning", assessment.reasoning),
            *sources(assessment.sources),
            *failures(assessment.failures),
        ],
        _about(assessment),
        notes=assessment.limits,
    )


def _about(assessment: EvidenceAssessment) -> list[str]:
    by = f"by {assessment.model}" if assessment.model else ""
    return told(
        [
            assessment.tier,
            counted(len(assessment.sources), "source") if assessment.sources else "",
            score_words(assessment.score),
            "without a model" if assessment.engine == "local" else by,
        ]
    )
