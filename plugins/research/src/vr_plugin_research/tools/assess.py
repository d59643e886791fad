"""`research_assess_evidence`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, ThinkingLevel, tool

from vr_plugin_research.arguments import DEFAULT_THINKING, EngineChoice
from vr_plugin_research.results.assessment import EvidenceAssessment


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def research_assess_evidence(
    call: Call,
    claim: str,
    sources: Annotated[list[str], Field(description="Texts, URLs, paths, record ids")],
    context: str = "",
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    engine: EngineChoice = "auto",
) -> EvidenceAssessment:
    """Hold a claim against sources: quotes for and against, checked; tier and confidence."""
    from vr_kernel import Code, VrError

    from vr_plugin_research.analysts.asking import Asking
    from vr_plugin_research.assessment.assessing import Assessment
    from vr_plugin_research.assessment.fitting import fitted_assessment
    from vr_plugin_research.engine.answering import asks_model
    from vr_plugin_research.request import check_context, check_given, check_topic

    if not sources:
        raise VrError(
            "No source was given.",
            Code.INVALID_INPUT,
            hint="Give texts, addresses, paths or ids of records; research_deep searches itself.",
        )
    check_given(sources)
    claimed, told = check_topic(claim), check_context(context)
    asking = Asking(call, thinking_level) if asks_model(call, engine) else None
    result = await Assessment(call, claimed, told, asking).assess(sources)
    return await fitted_assessment(result)
