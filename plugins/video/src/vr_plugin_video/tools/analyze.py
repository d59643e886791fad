"""`video_analyze`."""

from __future__ import annotations

from typing import Annotated, Any

from pydantic import Field
from vr_kernel import READ_ONLY, Call, Code, VrError, tool

from vr_plugin_video.arguments import (
    DEFAULT_INSTRUCTION,
    DEFAULT_THINKING,
    Detail,
    End,
    EngineChoice,
    MediaPath,
    MediaResolution,
    OutputSchema,
    Start,
    ThinkingLevel,
    VideoUrl,
    check_instruction,
    check_schema,
)
from vr_plugin_video.engine import LocalEngine
from vr_plugin_video.fitting import brief, full
from vr_plugin_video.job import Job
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.sources import open_source
from vr_plugin_video.times import parse_window


@tool(effects=READ_ONLY)
async def video_analyze(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    instruction: str = DEFAULT_INSTRUCTION,
    output_schema: OutputSchema | None = None,
    thinking_level: ThinkingLevel = DEFAULT_THINKING,
    use_cache: bool = True,
    start: Start | None = None,
    end: End | None = None,
    fps: Annotated[float | None, Field(gt=0, le=60)] = None,
    media_resolution: MediaResolution | None = None,
    engine: EngineChoice = "auto",
    detail: Detail = "brief",
) -> VideoAnalysis:
    """Watch a video: summary, key points and slides with times; makes it searchable."""
    check_instruction(instruction)
    check_schema(output_schema or {})
    window = parse_window(start, end)
    if engine == "gemini":
        raise _no_gemini()
    asked = {
        "instruction": instruction if instruction != DEFAULT_INSTRUCTION else None,
        "output_schema": output_schema,
        "thinking_level": thinking_level if thinking_level != DEFAULT_THINKING else None,
        "fps": fps,
        "media_resolution": media_resolution,
    }
    ignored = {name: value for name, value in asked.items() if value is not None}
    local = call.services.providers.get(LocalEngine)
    async with open_source(call.services, url, file_path) as source:
        job = local.job(call, source, window, use_cache=use_cache)
        analysis = await _analysis(call, local, job, instruction, ignored)
        analysis = analysis.model_copy(update={"source": source.url})
        return await job.work.aside(full if detail == "full" else brief, analysis)


async def _analysis(
    call: Call, local: LocalEngine, job: Job, instruction: str, ignored: dict[str, Any]
) -> VideoAnalysis:
    if not job.use_cache:
        return await _analysed(local, job, instruction, ignored, "")
    identity = await local.identity(job)
    key = local.recorder.key(job, "analysis", identity=identity, ignored=ignored)
    kept = await call.services.cache.get(key)
    if kept is not None:
        known = await job.work.aside(VideoAnalysis.model_validate, {**kept, "cached": True})
        if await job.work.aside(known.thumbnails_exist):
            return known

    async def lead() -> VideoAnalysis:
        return await _analysed(local, job, instruction, ignored, key)

    analysis, led = await local.analyses.join(key, lead, call)
    return analysis if led else analysis.model_copy(update={"cached": True})


async def _analysed(
    local: LocalEngine, job: Job, instruction: str, ignored: dict[str, Any], key: str
) -> VideoAnalysis:
    if ignored:
        job.limits.append(
            f"The local engine makes an outline only; it did not use: {', '.join(ignored)}."
        )
    analysis = await local.analyse(job)
    local.recorder.analysis(job, key, instruction, analysis)
    return analysis


def _no_gemini() -> VrError:
    return VrError(
        "The engine gemini is not available here.",
        Code.UNAVAILABLE,
        category="ENGINE_UNAVAILABLE",
        hint="It needs GEMINI_API_KEY and a provider of Gemini models, which is not installed."
        " engine='local' works now, without a key.",
    )
