"""`research_plan`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import PAID, READ_ONLY, Call, tool

from vr_plugin_research.arguments import DEFAULT_SCOPE, EngineChoice
from vr_plugin_research.results.plan import ResearchPlan
from vr_plugin_research.results.report import Scope


@tool(effects=READ_ONLY | PAID, long=True)
async def research_plan(
    call: Call,
    topic: str,
    scope: Scope = DEFAULT_SCOPE,
    available_agents: Annotated[int, Field(ge=1, le=50)] = 10,
    engine: EngineChoice = "auto",
) -> ResearchPlan:
    """Plan research: questions, phases, tasks, cost; research_deep follows it, also edited."""
    from vr_plugin_research.engine.answering import asks_model
    from vr_plugin_research.planning.planning import make_plan
    from vr_plugin_research.request import ResearchRequest, check_topic

    request = ResearchRequest(topic=check_topic(topic), scope=scope)
    by_model = asks_model(call, engine)
    return await make_plan(call, request, available_agents, by_model=by_model)
