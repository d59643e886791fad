"""An analysis with all that is known of its video."""

from __future__ import annotations

from vr_kernel import Call, VrError

from vr_plugin_video.analyses.analysis import scene_of
from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.models import TranscriptSummary, VideoAnalysis
from vr_plugin_video.sources import Source
from vr_plugin_video.text.times import Window

_SILENT = "No transcript is at hand. video_transcript makes one; export again after it."


async def completed(
    call: Call, source: Source, window: Window, analysis: VideoAnalysis
) -> VideoAnalysis:
    """Add known words and slides to a model's analysis; nothing new is computed."""
    if analysis.engine == "local" or analysis.segments:
        return analysis
    local = call.services.providers.get(LocalEngine)
    task = local.task(call, source, window, use_cache=True)
    try:
        said = await local.listener.known(task, local.settings.language)
        at_youtube = source.at_youtube
        seen = None if at_youtube else await local.watcher.known(task, local.settings.max_scenes)
    except VrError as error:
        limit = f"Without transcript and slides: {error.message} {error.hint}".strip()
        return analysis.model_copy(update={"limits": [*analysis.limits, limit]})
    slides = [scene_of(slide) for slide in seen.slides] if seen else analysis.slides
    if said is None:
        limits = [*analysis.limits, _SILENT]
        return analysis.model_copy(update={"slides": slides, "limits": limits})
    summary = TranscriptSummary(
        origin=said.origin, language=said.language, segments=len(said.segments)
    )
    words = {"transcript": summary, "segments": list(said.segments)}
    return analysis.model_copy(update={"slides": slides, **words})
