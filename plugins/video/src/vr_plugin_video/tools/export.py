"""`video_export`."""

from __future__ import annotations

from math import inf
from typing import Literal

from pydantic import BaseModel
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    End,
    Engine,
    Instruction,
    MediaPath,
    Start,
    VideoUrl,
    check_instruction,
)

ExportFormat = Literal["html", "md", "json"]


class VideoExport(BaseModel):
    """An analysis as a file: where it is, and its size in bytes."""

    source: str
    video_id: str
    title: str
    uri: str
    path: str
    mime: str
    size: int
    cached: bool
    limits: list[str] = []


@tool(effects=READ_ONLY | CALLS_OUT, long=True)
async def video_export(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    format: ExportFormat = "html",  # noqa: A002 - the name that clients know
    start: Start | None = None,
    end: End | None = None,
    instruction: Instruction = DEFAULT_INSTRUCTION,
    engine: Engine = "auto",
    use_cache: bool = True,
) -> VideoExport:
    """Write an analysis to a file: a page with player, timeline and search, or text."""
    from vr_plugin_video.analyses.analysing import analysis_of
    from vr_plugin_video.analyses.request import AnalysisRequest
    from vr_plugin_video.exports.completion import completed
    from vr_plugin_video.exports.files import require_renderer, write
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.text.times import parse_window

    check_instruction(instruction)
    window = parse_window(start, end)
    require_renderer(call.services, format)
    request = AnalysisRequest(instruction, None, DEFAULT_THINKING, None, None)
    async with open_source(call.services, url, file_path) as source:
        analysis = await analysis_of(
            call, source, window, request, engine=engine, use_cache=use_cache
        )
        window = window.of(analysis.duration or inf)
        whole = await completed(call, source, window, analysis)
        kept = await write(call, window, whole, format)
    return VideoExport(
        source=whole.source,
        video_id=whole.video_id,
        title=whole.title,
        uri=kept.uri,
        path=str(kept.path),
        mime=kept.mime,
        size=kept.size,
        cached=whole.cached,
        limits=whole.limits,
    )
