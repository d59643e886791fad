"""The scenes of a video as a result: recorded, and cut to fit an answer."""

from __future__ import annotations

from vr_kernel import Call

from vr_plugin_video.analyses.analysis import damage, scene_of
from vr_plugin_video.analyses.fitting import short
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.outline import parts_of
from vr_plugin_video.media.probe import no_stream
from vr_plugin_video.models import VideoScenes
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window
from vr_plugin_video.vision.slides import Slides
from vr_plugin_video.work import Work


async def scenes_of(
    call: Call, source: Source, window: Window, most: int | None, *, ocr: bool, use_cache: bool
) -> VideoScenes:
    """The longest scenes of a window, at most `most`; by default as many as configured.

    Raises:
        VrError: UNSUPPORTED without pictures; UNAVAILABLE when they cannot be taken here.
    """
    local = call.services.providers.get(LocalEngine)
    most = most or local.settings.max_scenes
    task = local.task(call, source, window, use_cache=use_cache)
    media = await task.media()
    if not media.has_video:
        raise no_stream("pictures")
    seen, cached = await local.watcher.slides(task, most, (0, 99), read=ocr)
    if seen.found == len(seen.slides) or most >= local.settings.max_scenes:
        parts = parts_of(media.chapters, seen.slides, (), await task.span())
        await local.recorder.slides(task, seen.slides, parts)
    partial = not (media.complete and seen.complete)
    result = VideoScenes(
        source=source.url,
        video_id=source.video_id,
        duration=media.duration or None,
        model=seen.recognizer,
        cached=cached,
        partial=partial,
        limits=[*damage(media, partial=partial), *task.limits, *_left_out(seen, task.work.lost)],
        scenes=[scene_of(slide) for slide in seen.slides],
        found=seen.found,
    )
    return await task.work.in_thread(_shortened, task.work, result)


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
