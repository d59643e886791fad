"""Pages that their site does not give to us, read by Gemini itself."""

from __future__ import annotations

from vr_kernel import Call, VrError

from vr_plugin_content.analyses import prompt
from vr_plugin_content.analyses.model_analyst import ROLE
from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.results.analysis import ContentAnalysis, KeyPoint

REFUSED = frozenset(
    {"HTTP_FORBIDDEN", "HTTP_TOO_MANY_REQUESTS", "HTTP_SERVER_ERROR", "HTTP_STATUS"}
)
"""Categories of the errors of a site that answers, and gives no page to programs."""
GEMINI = "gemini/"
_READ = """\
Read {url} and write down what it says: its title, and all of its content in its own words, as
far as it bears on this: {instruction}"""
_REPORT = """\
This is what stands at {url}:

{text}

{task}"""


def may_read(call: Call, error: VrError) -> bool:
    """True for a refusal of a site, when the first model is of Gemini, which fetches itself."""
    if error.category not in REFUSED:
        return False
    try:
        names = call.services.models.names(ROLE)
    except VrError:
        return False
    return bool(names) and names[0].startswith(GEMINI)


async def analysis_by_address(
    call: Call, url: str, request: AnalysisRequest, refusal: VrError
) -> ContentAnalysis:
    """Have Gemini read an address, and report on it; its quotes cannot be checked here.

    Raises:
        VrError: what the model raises.
    """
    models = call.services.models
    model = models.names(ROLE)[0]
    read = await models.generate(
        _READ.format(url=url, instruction=request.instruction),
        role=ROLE,
        system=prompt.SYSTEM,
        url_context=True,
        model=model,
    )
    custom = request.output_schema is not None
    task = prompt.make_prompt(request.instruction, custom=custom)
    found = await models.generate_structured(
        _REPORT.format(url=url, text=read.text, task=task),
        request.output_schema or prompt.ReadReport,
        role=ROLE,
        system=prompt.SYSTEM,
        thinking=request.thinking_level,
        model=model,
    )
    limits = [f"{refusal.message} Gemini read it instead: its quotes could not be checked."]
    base = ContentAnalysis(
        source=url,
        title=url,
        mime="text/html",
        limits=limits,
        engine="model",
        model=found.reply.model,
        summary="",
        key_points=[],
        entities=[],
    )
    if custom:
        value = found.value if isinstance(found.value, dict) else {"value": found.value}
        return base.model_copy(update={"custom": value})
    report: prompt.ReadReport = found.value
    points = [
        KeyPoint(text=each.text, quote=each.quote, place=each.place, status="unchecked")
        for each in report.key_points
    ]
    told = {
        "title": report.title or url,
        "summary": report.summary,
        "key_points": points,
        "entities": report.entities,
    }
    return base.model_copy(update=told)
