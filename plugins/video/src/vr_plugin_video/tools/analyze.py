"""`video_analyze`."""

from __future__ import annotations

import asyncio
from math import inf
from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, PAID, READ_ONLY, Call, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    Detail,
    End,
    Engine,
    Instruction,
    MediaPath,
    MediaResolution,
    OutputSchema,
    Start,
    ThinkingLevel,
    UseCache,
    VideoUrl,
    check_instruction,
)
from vr_plugin_video.models import VideoAnalysis


@tool(effects=READ_ONLY | CALLS_OUT | PAID, long=True, core=True)
async def video_analyze(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    instruction: Instruction = DEFAULT_INSTRUCTION,
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    use_cache: UseCache = True,
    start: Start | None = None,
    end: End | None = None,
    fps: Annotated[
        float | None, Field(gt=0, le=24, description="Frames a second; 1 by default")
    ] = None,
    media_resolution: Annotated[
        MediaResolution | None, Field(description="How fine the frames are")
    ] = None,
    engine: Engine = "auto",
    detail: Detail = "brief",
) -> VideoAnalysis:
    """Watch a video: summary, key points and slides with times; makes it searchable."""
    from vr_plugin_video.analyses.analysing import analysis_of
    from vr_plugin_video.analyses.fitting import brief, full
    from vr_plugin_video.analyses.request import AnalysisRequest
    from vr_plugin_video.sources import open_source
    from vr_plugin_video.text.times import parse_window

    check_instruction(instruction)
    if output_schema:
        from vr_kernel import check_schema

        await asyncio.to_thread(check_schema, output_schema)
    window = parse_window(start, end)
    request = AnalysisRequest(instruction, output_schema, thinking_level, fps, media_resolution)
    async with open_source(call.services, url, file_path) as source:
        analysis = await analysis_of(
            call, source, window, request, engine=engine, use_cache=use_cache
        )
        told = analysis.within(window.of(analysis.duration or inf))
        return await asyncio.to_thread(full if detail == "full" else brief, told)
