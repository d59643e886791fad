"""`video_analyze`."""

from __future__ import annotations

import asyncio
from typing import Annotated, Protocol

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, VrError, check_schema, tool

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
)
from vr_plugin_video.asked import Asked
from vr_plugin_video.engine import LocalEngine
from vr_plugin_video.fitting import brief, full
from vr_plugin_video.job import Job
from vr_plugin_video.local_analyst import LocalAnalyst
from vr_plugin_video.model_analyst import ROLE, ModelAnalyst, no_model
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.sources import open_source, reopened
from vr_plugin_video.times import parse_window


class Analyst(Protocol):
    """Makes analyses of one kind."""

    async def key(self, job: Job) -> str:
        """Names the result: everything that it depends on."""

    async def analyse(self, job: Job) -> VideoAnalysis:
        """The analysis, recorded."""

    async def again(self, job: Job, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """A kept analysis as it would be now; None when it has to be made anew."""


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    core=True,
    words="summarise this video; what is this talk about; main points of a lecture; tell me what"
    " happens in the film; is it worth watching; I have no time to watch it; who appears in"
    " the footage and what do they do; what does the speaker recommend and why; answer a"
    " question about a recording; find the moment when something happens; chapters with"
    " timestamps; mood, tone and sentiment of the speaker; study notes from a webinar;"
    " decisions and action items of a recorded meeting; extract a table or JSON from a clip;"
    " list the products or people that are shown; steps of a tutorial or recipe; gist of a"
    " YouTube link; condense what they discuss from minute 5 to 10; review a demo or pitch and"
    " judge how convincing it is; explain what the user does in a screen recording; write a"
    " short description of a keynote; compare two recordings; check the claims that are made"
    " in a documentary; what is in talk.mp4, clip.mov or https://youtu.be/abc; what does the"
    " athlete do wrong; is it suitable for children; who wins and how; explain the experiment"
    " to me",
)
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
    if output_schema:
        await asyncio.to_thread(check_schema, output_schema)
    window = parse_window(start, end)
    asked = Asked(instruction, output_schema, thinking_level, fps, media_resolution)
    local = call.services.providers.get(LocalEngine)
    analyst = _analyst(call, engine, local, asked)
    async with open_source(call.services, url, file_path) as source:
        job = local.job(call, source, window, use_cache=use_cache)
        analysis = await (_kept(job, analyst, local) if use_cache else analyst.analyse(job))
        analysis = analysis.model_copy(update={"source": source.url})
        return await job.work.aside(full if detail == "full" else brief, analysis)


def _analyst(call: Call, engine: EngineChoice, local: LocalEngine, asked: Asked) -> Analyst:
    """The one that is asked for; by default a model, when one can be reached.

    Raises:
        VrError: AUTH or UNAVAILABLE, category ENGINE_UNAVAILABLE.
    """
    models = call.services.models
    if engine == "local" or (engine == "auto" and not models.ready(ROLE)):
        return LocalAnalyst(local, asked)
    try:
        models.identity(ROLE)
    except VrError as error:
        raise no_model(error) from None
    return ModelAnalyst(local, asked)


async def _kept(job: Job, analyst: Analyst, local: LocalEngine) -> VideoAnalysis:
    """The analysis from the cache, or one that is made once for all who ask now."""
    call, source = job.work.call, job.source
    key = await analyst.key(job)

    async def produce(shared: Call) -> VideoAnalysis:
        # The work may outlive the call that opened the file.
        async with reopened(shared.services, source) as same:
            making = local.job(shared, same, job.window, use_cache=True)
            analysis = await analyst.analyse(making)
            shared.repeatable = making.repeatable
            return analysis

    analysis = await call.once(key, VideoAnalysis, produce, content_id=source.video_id)
    if not analysis.cached:
        return analysis
    known = await analyst.again(job, analysis)
    if known is not None:
        return known
    await call.services.cache.delete(key)
    return await call.once(key, VideoAnalysis, produce, content_id=source.video_id)
