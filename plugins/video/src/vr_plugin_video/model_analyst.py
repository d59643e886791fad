"""Analyses by a vision model that watches the video; its quotes are looked up here."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vr_kernel import Code, Media, Reply, VrError
from vr_kernel.generation import Role

from vr_plugin_video import prompt
from vr_plugin_video.arguments import MediaResolution
from vr_plugin_video.asked import Asked
from vr_plugin_video.at_hand import words_at_hand
from vr_plugin_video.engine import LocalEngine, written
from vr_plugin_video.file_kinds import mime_of
from vr_plugin_video.job import Job
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.plain_text import one_line
from vr_plugin_video.prompt import SeenVideo
from vr_plugin_video.sources import Source
from vr_plugin_video.times import Window
from vr_plugin_video.timestamps import check_moments, claimed_moments

ROLE: Role = "vision"
TITLE_CHARS = 200
SUMMARY_CHARS = 600


class ModelAnalyst:
    """Analyses by a vision model, one call of it each."""

    def __init__(self, local: LocalEngine, asked: Asked) -> None:
        self._local = local
        self._asked = asked

    async def key(self, job: Job) -> str:
        """Names the result: everything that it depends on.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when no model can watch.
        """
        models = job.work.call.services.models
        return self._local.recorder.key(
            job,
            "analysis",
            engine="model",
            prompt=prompt.VERSION,
            answers=models.identity(ROLE, thinking=self._asked.thinking_level),
            instruction=self._asked.instruction,
            output_schema=self._asked.output_schema,
            fps=self._asked.fps,
            media_resolution=self._asked.media_resolution,
        )

    async def analyse(self, job: Job) -> VideoAnalysis:
        """The analysis of a video, with its quotes looked up; recorded.

        Raises:
            VrError: for what is no media, before anything is paid; what the model raises.
        """
        duration = await self._probe(job)
        call, asked = job.work.call, self._asked
        call.progress(0, 100, "A model is watching the video")
        found = await call.services.models.generate_structured(
            [self._media(job), prompt.task(asked.instruction, custom=bool(asked.output_schema))],
            asked.output_schema or SeenVideo,
            role=ROLE,
            system=prompt.SYSTEM,
            thinking=asked.thinking_level,
        )
        analysis = _base(job, duration, found.reply)
        if asked.output_schema:
            analysis = _custom(analysis, found.value)
        else:
            analysis = _seen(analysis, found.value, job)
            analysis = await self._checked(job, analysis)
        self._local.recorder.analysis(job, asked.instruction, analysis)
        return await job.work.aside(written, job, analysis)

    async def again(self, job: Job, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """The kept analysis; what could not be checked then is checked now, if it can be."""
        if all(moment.status != "unchecked" for moment in analysis.timestamps):
            return analysis
        return await self._checked(job, analysis)

    async def _checked(self, job: Job, analysis: VideoAnalysis) -> VideoAnalysis:
        quotes = [moment.quote for moment in analysis.timestamps if moment.quote]
        words = await words_at_hand(self._local, job, quotes)
        checked = await job.work.aside(
            check_moments, analysis.timestamps, words.spoken, words.shown
        )
        return analysis.model_copy(
            update={"timestamps": checked.moments, "limits": [*analysis.limits, *checked.notes]}
        )

    async def _probe(self, job: Job) -> float:
        """The duration in seconds, 0 when it cannot be found out here.

        Raises:
            VrError: for what is no media, before anything is paid.
        """
        try:
            return (await job.media()).duration
        except VrError as error:
            if error.category != "EXTRA_MISSING":
                raise
        job.limits.append("The file was not looked at before it was sent: PyAV is not installed.")
        return 0.0

    def _media(self, job: Job) -> Media:
        return media_part(job.source, job.window, self._asked.fps, self._asked.media_resolution)


def media_part(
    source: Source,
    window: Window,
    fps: float | None = None,
    resolution: MediaResolution | None = None,
) -> Media:
    """The part of a video that a model is to watch."""
    start, end = window.start or None, window.end
    if source.at_youtube:
        return Media.youtube(source.video_id, start=start, end=end, fps=fps, resolution=resolution)
    return Media(
        mime_of(source.path.name),
        file=source.file,
        digest=source.video_id,
        start=start,
        end=end,
        fps=fps,
        resolution=resolution,
    )


def no_model(reason: VrError) -> VrError:
    """The error of asking for a model where none can be reached."""
    return VrError(
        f"The engine gemini is not available: {reason.message}",
        reason.code if reason.code is Code.AUTH else Code.UNAVAILABLE,
        category="ENGINE_UNAVAILABLE",
        hint=f"{reason.hint} engine='local' works now, without a key.".strip(),
    )


def _base(job: Job, duration: float, reply: Reply) -> VideoAnalysis:
    return VideoAnalysis(
        source=job.source.url,
        video_id=job.source.video_id,
        duration=duration,
        engine="gemini" if reply.model.startswith("gemini/") else "model",
        model=reply.model,
        limits=list(job.limits),
        title=job.source.name,
        summary="",
        key_points=[],
        timestamps=[],
        topics=[],
    )


def _seen(base: VideoAnalysis, seen: SeenVideo, job: Job) -> VideoAnalysis:
    end = job.window.end or base.duration or None
    claimed = claimed_moments(seen.timestamps, job.window.start, end)
    return base.model_copy(
        update={
            "title": one_line(seen.title, TITLE_CHARS) or base.title,
            "summary": seen.summary,
            "key_points": seen.key_points,
            "timestamps": claimed.moments,
            "topics": seen.topics,
            "sentiment": seen.sentiment or None,
            "limits": [*base.limits, *claimed.notes],
        }
    )


def _custom(base: VideoAnalysis, value: Any) -> VideoAnalysis:
    custom = value if isinstance(value, dict) else {"value": value}
    said = " ".join(_texts(custom))
    return base.model_copy(update={"summary": one_line(said, SUMMARY_CHARS), "custom": custom})


def _texts(value: Any) -> Sequence[str]:
    """The texts of a JSON value, in its order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]
