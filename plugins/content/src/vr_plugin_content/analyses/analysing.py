"""Makes analyses by the requested engine: each once, then cached and found again."""

from __future__ import annotations

import asyncio

from vr_kernel import Call, Code, VrError, cache_key

from vr_plugin_content.analyses import prompt
from vr_plugin_content.analyses.local_analyst import analyse_locally
from vr_plugin_content.analyses.model_analyst import ROLE, ModelAnalyst
from vr_plugin_content.analyses.recording import is_recorded, record_of
from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.arguments import EngineChoice
from vr_plugin_content.passages.recording import record_passages
from vr_plugin_content.reading.documents import Reading, require_text
from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.sources.source import PASTED


async def analysis_of(
    call: Call,
    reading: Reading,
    request: AnalysisRequest,
    *,
    engine: EngineChoice = "auto",
    use_cache: bool = True,
) -> ContentAnalysis:
    """Return the whole analysis of a document, from the cache when it was made before.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE, when no model can be reached and
            `engine` demands one; UNSUPPORTED, category DOCUMENT_EMPTY; what the model raises.
    """
    if not asks_model(call, engine):
        require_text(reading.document)
        analysis = await asyncio.to_thread(analyse_locally, reading.document)
        await _record(call, reading, request, analysis)
        return analysis
    key = await analysis_key(call, reading, request)

    async def produce(shared: Call) -> ContentAnalysis:
        analysis = await ModelAnalyst(shared, reading, request, key).analyse()
        await _record(shared, reading, request, analysis, always=True)
        return analysis

    if not use_cache:
        key = cache_key(only=call.id, of=key)
        return await produce(call)
    found = await call.once(key, ContentAnalysis, produce, content_id=reading.document.sha256)
    if found.cached:
        found = found.model_copy(update={"usage": None, "source": reading.document.source})
        await _record(call, reading, request, found)
    return found


def asks_model(call: Call, engine: EngineChoice) -> bool:
    """True when a model is to be asked; by default when one can be reached.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE, for an engine that is not there;
            INVALID_INPUT for models that are configured and do not exist.
    """
    if engine == "local":
        return False
    try:
        return bool(call.services.models.names(ROLE))
    except VrError as error:
        if error.code is Code.INVALID_INPUT:
            raise
        if engine == "model":
            raise _no_model(error) from None
        return False


async def _record(
    call: Call,
    reading: Reading,
    request: AnalysisRequest,
    analysis: ContentAnalysis,
    *,
    always: bool = False,
) -> None:
    """Record an analysis and the passages of its document, unless they are there."""
    record = record_of(analysis, request.instruction)
    if always or not await is_recorded(call, record):
        call.record(record)
    if reading.document.source != PASTED:
        await record_passages(call, reading.document)


async def analysis_key(call: Call, reading: Reading, request: AnalysisRequest) -> str:
    """Return the key of a model's analysis, which names everything that it depends on."""
    document, services = reading.document, call.services
    return cache_key(
        result="content analysis",
        home=[services.workspace, await services.journal.home()],
        document=document.sha256,
        title=document.title,
        text=cache_key(texts=[[it.locator.label, it.text] for it in document.segments]),
        unread=list(reading.unread),
        prompt=prompt.VERSION,
        instruction=request.instruction,
        output_schema=request.output_schema,
        answers=services.models.identity(ROLE, thinking=request.thinking_level),
    )


def _no_model(reason: VrError) -> VrError:
    """The error for a model that is asked for and cannot be reached."""
    return VrError(
        f"No model can be asked: {reason.message}",
        reason.code if reason.code is Code.AUTH else Code.UNAVAILABLE,
        category="ENGINE_UNAVAILABLE",
        hint=f"{reason.hint} engine='local' works now, without a key.".strip(),
    )
