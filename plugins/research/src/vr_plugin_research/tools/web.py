"""`research_web` and the tools that go on with what it began."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field, StringConstraints
from vr_kernel import CALLS_OUT, DESTRUCTIVE, IDEMPOTENT, PAID, READ_ONLY, Call, Code, VrError, tool

from vr_plugin_research.results.web import WebResearch

Topic = Annotated[str, StringConstraints(strip_whitespace=True, min_length=10)]
Question = Annotated[str, StringConstraints(strip_whitespace=True, min_length=1)]
Wait = Annotated[float, Field(ge=0, le=50)]


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True)
async def research_web(call: Call, topic: Topic, output_format: str = "") -> WebResearch:
    """Start Gemini Deep Research, which takes minutes; then poll research_web_status."""
    from vr_plugin_research.interactions.fitting import result_of
    from vr_plugin_research.interactions.starting import begin_research

    return await result_of(call, await begin_research(call, topic, output_format))


@tool(effects=READ_ONLY | CALLS_OUT, printed=("report", "report_uri"))
async def research_web_status(call: Call, interaction_id: str, wait_s: Wait = 0) -> WebResearch:
    """State of a research_web, with report and sources when it has ended."""
    from vr_plugin_research.interactions.fitting import result_of
    from vr_plugin_research.interactions.known import find
    from vr_plugin_research.interactions.recording import record
    from vr_plugin_research.interactions.settling import waited_for

    interaction = await waited_for(call, await find(call.services, interaction_id), wait_s)
    await record(call, interaction)
    return await result_of(call, interaction)


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, printed=("report", "report_uri"))
async def research_web_followup(call: Call, interaction_id: str, question: Question) -> WebResearch:
    """Ask about a completed research_web; the answer is the report."""
    from vr_plugin_research.interactions.fitting import result_of
    from vr_plugin_research.interactions.known import find
    from vr_plugin_research.interactions.recording import record
    from vr_plugin_research.interactions.settling import settled
    from vr_plugin_research.interactions.starting import ask_about

    former = await settled(call, await find(call.services, interaction_id))
    await record(call, former)
    if not former.answers:
        raise _unanswered(former.state)
    answer = await ask_about(call, former, question)
    await record(call, answer)
    return await result_of(call, answer)


@tool(effects=CALLS_OUT | DESTRUCTIVE | IDEMPOTENT)
async def research_web_cancel(call: Call, interaction_id: str) -> WebResearch:
    """Cancel a research_web."""
    from vr_plugin_research.interactions.fitting import result_of
    from vr_plugin_research.interactions.known import find
    from vr_plugin_research.interactions.recording import record
    from vr_plugin_research.interactions.settling import settled

    known = await find(call.services, interaction_id)
    interaction = await settled(call, known, cancel=True)
    if interaction.state != "cancelled":
        call.note(_not_cancelled(interaction.state))
    await record(call, interaction)
    return await result_of(call, interaction)


def _not_cancelled(state: str) -> str:
    if state == "in_progress":
        return "The service has not ended it yet; research_web_status tells when it has."
    return f"It was not cancelled: it had ended before ({state})."


def _unanswered(state: str) -> VrError:
    if state == "in_progress":
        return VrError(
            "This research is still under way.",
            Code.CONFLICT,
            category="INTERACTION_UNFINISHED",
            hint="Ask research_web_status until it is completed, then ask again.",
            retryable=True,
        )
    return VrError(
        f"This research has no report to ask about: it ended as {state}.",
        Code.CONFLICT,
        category="INTERACTION_FAILED",
        hint="Start a new one with research_web.",
    )
