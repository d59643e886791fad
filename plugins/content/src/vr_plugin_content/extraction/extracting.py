"""Answers of `content_extract`: once made, then cached and found again."""

from __future__ import annotations

import asyncio

from vr_kernel import Call, Code, VrError, cache_key

from vr_plugin_content.analyses.answering import AnalysisSource, opened
from vr_plugin_content.analyses.model_analyst import ROLE
from vr_plugin_content.extraction import prompt
from vr_plugin_content.extraction.checking import without_unfound
from vr_plugin_content.extraction.extractor import Extractor
from vr_plugin_content.extraction.fitting import fitted
from vr_plugin_content.extraction.request import ExtractionRequest
from vr_plugin_content.passages.recording import record_passages
from vr_plugin_content.reading.documents import Reading
from vr_plugin_content.results.extraction import ContentExtraction
from vr_plugin_content.sources.source import PASTED


async def extract(
    call: Call,
    source: AnalysisSource,
    request: ExtractionRequest,
    *,
    use_cache: bool,
    strict: bool,
) -> ContentExtraction:
    """Extract data from a source, and return what fits into an answer.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE, without a model; as `opened`;
            what the model raises.
    """
    async with opened(call, source) as reading:
        require_model(call)
        found = await _extraction(call, reading, request, use_cache=use_cache)
        if reading.document.source != PASTED:
            await record_passages(call, reading.document)
    if strict:
        found = await asyncio.to_thread(without_unfound, found, request.schema)
    return await fitted(call, found)


def require_model(call: Call) -> None:
    """Refuse an extraction when no model can be reached.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE; INVALID_INPUT for models that are
            configured and do not exist.
    """
    try:
        call.services.models.names(ROLE)
    except VrError as error:
        if error.code is Code.INVALID_INPUT:
            raise
        raise VrError(
            f"Extraction needs a language model: {error.message}",
            error.code if error.code is Code.AUTH else Code.UNAVAILABLE,
            category="ENGINE_UNAVAILABLE",
            hint=f"{error.hint} content_read reads the document without one.".strip(),
        ) from None


async def _extraction(
    call: Call, reading: Reading, request: ExtractionRequest, *, use_cache: bool
) -> ContentExtraction:
    key = await asyncio.to_thread(_key, call, reading, request)

    async def produce(shared: Call) -> ContentExtraction:
        return await Extractor(shared, reading, request, key).extract()

    if not use_cache:
        key = cache_key(only=call.id, of=key)
        return await produce(call)
    found = await call.once(key, ContentExtraction, produce, content_id=reading.document.sha256)
    if not found.cached:
        return found
    return found.model_copy(update={"usage": None, "source": reading.document.source})


def _key(call: Call, reading: Reading, request: ExtractionRequest) -> str:
    """Return the key of an extraction in the cache; blocks."""
    document = reading.document
    return cache_key(
        result="content extraction",
        workspace=call.workspace,
        document=document.sha256,
        title=document.title,
        text=cache_key(texts=[[it.locator.label, it.text] for it in document.segments]),
        unread=list(reading.unread),
        prompt=prompt.VERSION,
        instruction=request.instruction,
        schema=request.schema,
        answers=call.services.models.identity(ROLE, thinking=request.thinking_level),
    )
