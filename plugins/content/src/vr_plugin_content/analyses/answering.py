"""Answers of `content_analyze`: its source opened, its analysis made, and cut to fit."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field

from vr_kernel import Call, Code, VrError

from vr_plugin_content.analyses.analysing import analysis_of, asks_model
from vr_plugin_content.analyses.fitting import fitted
from vr_plugin_content.analyses.recording import record_of
from vr_plugin_content.analyses.request import AnalysisRequest
from vr_plugin_content.analyses.web_reading import analysis_by_address, may_read
from vr_plugin_content.arguments import EngineChoice
from vr_plugin_content.reading.documents import Reading, opened_any
from vr_plugin_content.reading.reader import read_document
from vr_plugin_content.results.analysis import ContentAnalysis
from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.sources.source import is_address, pasted

FOUND = ("verified", "moved")


@dataclass(frozen=True, slots=True)
class AnalysisSource:
    """The one source of a call: a path, an address, or a text; and a password."""

    file_path: str
    url: str
    text: str | None
    password: str = field(default="", repr=False)


async def answer(
    call: Call,
    source: AnalysisSource,
    request: AnalysisRequest,
    *,
    engine: EngineChoice,
    use_cache: bool,
    strict: bool,
) -> ContentAnalysis:
    """Analyse a source, and return what fits into an answer.

    Raises:
        VrError: as `opened` and `analysis_of`.
    """
    try:
        async with opened(call, source) as reading:
            analysis = await analysis_of(call, reading, request, engine=engine, use_cache=use_cache)
    except VrError as error:
        if not source.url or not may_read(call, error) or not asks_model(call, engine):
            raise
        analysis = await analysis_by_address(call, source.url, request, error)
        call.record(record_of(analysis, request.instruction))
    return await fitted(call, without_unfound(analysis) if strict else analysis)


@asynccontextmanager
async def opened(call: Call, source: AnalysisSource) -> AsyncIterator[Reading]:
    """Read a source, for a `with` block in which its file stays open.

    Raises:
        VrError: INVALID_INPUT for an address in the place of a path, or a path in that of an
            address, and for a blank text; TOO_LARGE for a long one; else as `opened_any`.
    """
    if source.text is not None:
        yield await _of_text(call, source.text)
        return
    if source.file_path and is_address(source.file_path):
        raise _misplaced("The file_path is an address, and no path.", "Give an address as url.")
    if source.url and not is_address(source.url):
        hint = "Give a file of this machine as file_path, and an address with its https://."
        raise _misplaced("The url is no http or https address.", hint)
    place = source.url or source.file_path
    async with opened_any(call, place, source.password, blank=True) as reading:
        yield reading


def without_unfound(analysis: ContentAnalysis) -> ContentAnalysis:
    """Return an analysis without the points whose quote was not found."""
    kept = [point for point in analysis.key_points if point.status in FOUND]
    left = len(analysis.key_points) - len(kept)
    return analysis.model_copy(update={"key_points": kept, "dropped": left})


async def _of_text(call: Call, text: str) -> Reading:
    settings: ContentSettings = call.settings
    if not text.strip():
        raise VrError(
            "The text is blank.", Code.INVALID_INPUT, hint="Give words, or file_path, or url."
        )
    if len(text) > settings.max_chars:
        raise VrError(
            f"The text has {len(text):,} characters; at most {settings.max_chars:,} are read.",
            Code.TOO_LARGE,
            hint="Save it as a file and give file_path, or split it.",
        )
    source = pasted(text)
    document, unread = await read_document(call, source)
    return Reading(document, source, unread)


def _misplaced(message: str, hint: str) -> VrError:
    return VrError(message, Code.INVALID_INPUT, category="URL_INVALID", hint=hint)
