"""Answers of `research_deep`: from its request to a report that is recorded and fits."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Call, Code, VrError, entity_key

from vr_plugin_research.analysts.analyst import Analyst
from vr_plugin_research.analysts.asking import Asking
from vr_plugin_research.analysts.local_analyst import MADE_SO, LocalAnalyst
from vr_plugin_research.analysts.model_analyst import ModelAnalyst
from vr_plugin_research.arguments import EngineChoice
from vr_plugin_research.dossier.entries import Found
from vr_plugin_research.dossier.job_dossier import JobDossier
from vr_plugin_research.engine.approval import approved_plan, approved_spending
from vr_plugin_research.engine.earlier import with_earlier
from vr_plugin_research.engine.fitting import fitted
from vr_plugin_research.engine.research import Research, begun_at
from vr_plugin_research.engine.spending import Spending
from vr_plugin_research.gathering.addresses import kind_of, text_address
from vr_plugin_research.gathering.places import places_of
from vr_plugin_research.planning.plans import plan_of
from vr_plugin_research.record_kinds import REPORTS
from vr_plugin_research.reports.recording import record_report
from vr_plugin_research.request import ResearchRequest
from vr_plugin_research.results.plan import ResearchPlan
from vr_plugin_research.results.report import ResearchReport
from vr_plugin_research.settings import ResearchSettings
from vr_plugin_research.stages.reading import Reading


async def answer(
    call: Call,
    request: ResearchRequest,
    plan: ResearchPlan | None,
    engine: EngineChoice,
) -> ResearchReport:
    """Research a question, record the report, and return what fits into an answer.

    Raises:
        VrError: AUTH or UNAVAILABLE when `engine` demands a model that is not there; UNAVAILABLE,
            category SOURCES_UNAVAILABLE; CANCELLED when a person said no; BUDGET when not even the
            plan fits.
    """
    by_model = asks_model(call, engine)
    if by_model and "spend" in request.approve:  # a client may be asked before the first step alone
        await approved_spending(call, request)
    dossier = JobDossier(call, request.topic, request.context)
    begun = await begun_at(dossier)
    texts = await put_given(call, dossier, request.documents)
    asking = Asking(call, request.thinking)
    analyst: Analyst = (
        ModelAnalyst(call, asking) if by_model else await local_analyst(call, dossier, texts)
    )
    base = ResearchReport(
        report_id=entity_key(REPORTS, call.id),
        topic=request.topic,
        scope=request.scope,
        executive_summary="",
        engine=analyst.engine,
        created_at=begun.isoformat(),
        limits=[] if by_model else [MADE_SO],
    )
    if plan is not None:
        dossier.questions = list(plan.questions)
    research = Research(call, dossier, request, analyst, Spending(call, request.budget_usd))
    await research.plan()
    if "plan" in request.approve and plan is None:
        made = plan_of(request, dossier.questions, analyst.engine)
        waiting = await approved_plan(call, dossier, made)
        if waiting is not None:
            told = {
                "status": "waiting",
                "plan_id": waiting.plan_id,
                "executive_summary": "The plan waits for approval; nothing was searched yet.",
                "open_questions": [each.question for each in waiting.questions],
            }
            return base.model_copy(update=told)
    places, notes = places_of(call, request.places)
    research.limits += notes
    await research.gather(places, texts)
    report = await research.write(base, begun.date())
    report = await with_earlier(call, report)
    report = report.model_copy(update={"models": list(asking.models)})
    record_report(call, report)
    return await fitted(call, report)


async def put_given(call: Call, dossier: JobDossier, given: Any) -> Mapping[str, str]:
    """Put given sources into the dossier, and return the given texts by their address."""
    texts: dict[str, str] = {}
    for number, each in enumerate(given, 1):
        address = each.strip()
        if kind_of(each, call.services) == "text":
            address = text_address(each)
            texts[address] = each
        await dossier.put(Found(id=number, round=1, address=address, given=True, relevance=1.0))
    return texts


async def local_analyst(call: Call, dossier: JobDossier, texts: Mapping[str, str]) -> LocalAnalyst:
    """The analyst that needs no model, with the headings of the given sources."""
    settings: ResearchSettings = call.settings
    reading = Reading(call, dossier, LocalAnalyst(), texts, _never)
    return LocalAnalyst(await reading.headings(dossier.found, settings.concurrency))


async def _never() -> bool:
    return False


def asks_model(call: Call, engine: EngineChoice) -> bool:
    """True when a model is to be asked; by default when one can be reached.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE, for an engine that is not there;
            INVALID_INPUT for models that are configured and do not exist.
    """
    if engine == "local":
        return False
    try:
        return bool(call.services.models.names("default"))
    except VrError as error:
        if error.code is Code.INVALID_INPUT:
            raise
        if engine == "model":
            raise VrError(
                f"No model can be asked: {error.message}",
                error.code if error.code is Code.AUTH else Code.UNAVAILABLE,
                category="ENGINE_UNAVAILABLE",
                hint=f"{error.hint} engine='local' works now, without a key.".strip(),
            ) from None
        return False
