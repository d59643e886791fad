"""`research_deep`."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, ThinkingLevel, tool

from vr_plugin_research.arguments import (
    DEFAULT_SCOPE,
    DEFAULT_THINKING,
    Dollars,
    EngineChoice,
    Given,
    Plan,
)
from vr_plugin_research.results.report import ResearchReport, Scope


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, core=True)
async def research_deep(
    call: Call,
    topic: str,
    scope: Scope = DEFAULT_SCOPE,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    sources: Annotated[int, Field(ge=1, le=200, description="Most sources")] | None = None,
    depth: Annotated[int, Field(ge=1, le=10, description="Most rounds")] | None = None,
    budget: Annotated[Dollars, Field(description="USD")] | None = None,
    documents: Given | None = None,
    search_in: list[Literal["web", "papers", "knowledge"]] | None = None,
    plan: Plan | None = None,
    approve: list[Literal["plan", "spend"]] | None = None,
    context: str = "",
    engine: EngineChoice = "auto",
) -> ResearchReport:
    """Research a question in rounds: claims with tiers and checked quotes, contradictions, gaps."""
    from vr_plugin_research.engine.answering import answer
    from vr_plugin_research.gathering.places import PLACES
    from vr_plugin_research.planning.plans import given_plan
    from vr_plugin_research.request import (
        ResearchRequest,
        check_context,
        check_given,
        check_topic,
    )

    given = None if plan is None else await given_plan(call.services, plan, topic)
    if given is not None:  # an approved plan keeps to its sources and its budget
        documents = given.documents if documents is None else documents
        search_in = given.search_in if search_in is None else search_in
        budget = given.budget_usd if budget is None else budget
    check_given(documents or [])
    request = ResearchRequest(
        topic=check_topic(topic),
        scope=scope,
        context=check_context(context),
        thinking=thinking_level,
        depth=depth,
        sources=sources,
        budget_usd=budget,
        documents=documents or (),
        places=PLACES if search_in is None else search_in,
        approve=approve or (),
    )
    return await answer(call, request, given, engine)
