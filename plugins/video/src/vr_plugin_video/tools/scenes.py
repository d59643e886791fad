"""`video_scenes`."""

from __future__ import annotations

from typing import Annotated

from pydantic import Field
from vr_kernel import CALLS_OUT, READ_ONLY, Call, tool

from vr_plugin_video.analysis import damage, scene_of
from vr_plugin_video.arguments import End, MediaPath, Start, VideoUrl
from vr_plugin_video.engine import LocalEngine
from vr_plugin_video.fitting import short
from vr_plugin_video.media import no_stream
from vr_plugin_video.models import VideoScenes
from vr_plugin_video.outline import parts_of
from vr_plugin_video.slides import Slides
from vr_plugin_video.sources import open_source
from vr_plugin_video.times import parse_window
from vr_plugin_video.work import Work


@tool(
    effects=READ_ONLY | CALLS_OUT,
    long=True,
    words="slides of a presentation; screenshots of a video; a picture of every scene; still"
    " frames; where are the cuts and shots; split a film into scenes; text on the screen, read"
    " by OCR; what is written on the blackboard; storyboard; thumbnails and cover pictures;"
    " key frames as images; when does the slide change; export the deck that was shown; read"
    " the code or the signs in the picture; what does the diagram or dialog on the screen say;"
    " visual overview of a recording; address, name or label visible in an advert; pages and"
    " formulas of a lecture as images",
)
async def video_scenes(
    call: Call,
    url: VideoUrl | None = None,
    file_path: MediaPath | None = None,
    max_scenes: Annotated[int | None, Field(ge=1, le=200)] = None,
    ocr: bool = True,
    start: Start | None = None,
    end: End | None = None,
    use_cache: bool = True,
) -> VideoScenes:
    """List a video's slides or scenes: times, pictures, text on screen."""
    window = parse_window(start, end)
    local = call.services.providers.get(LocalEngine)
    most = max_scenes or local.settings.max_scenes
    async with open_source(call.services, url, file_path, download=True) as source:
        job = local.job(call, source, window, use_cache=use_cache)
        media = await job.media()
        if not media.has_video:
            raise no_stream("pictures")
        seen, cached = await local.watcher.slides(job, most, job.work.stage(0, 99), read=ocr)
        if seen.found == len(seen.slides) or most >= local.settings.max_scenes:
            parts = parts_of(media.chapters, seen.slides, (), await job.span())
            await local.recorder.slides(job, seen.slides, parts)
        partial = not (media.complete and seen.complete)
        result = VideoScenes(
            source=source.url,
            video_id=source.video_id,
            duration=media.duration,
            model=seen.recognizer,
            cached=cached,
            partial=partial,
            limits=[*damage(media, partial=partial), *job.limits, *_left_out(seen, job.work.lost)],
            scenes=[scene_of(slide) for slide in seen.slides],
            found=seen.found,
        )
        return await job.work.aside(_shortened, job.work, result)


def _left_out(seen: Slides, lost: str) -> list[str]:
    limits = [lost] if lost else []
    if seen.failure:
        limits.append(f"Text on screen was not read: {seen.failure}")
    if seen.found > len(seen.slides):
        limits.append(f"The {len(seen.slides)} longest of {seen.found} scenes; see max_scenes.")
    return limits


def _shortened(work: Work, result: VideoScenes) -> VideoScenes:
    cut = short(result)
    if cut.limits == result.limits:
        return cut
    whole = work.keep(result.model_dump_json(indent=1).encode(), "application/json")
    return cut.model_copy(update={"result_uri": whole.uri if whole else ""})
