"""Analyses by a vision model that watches the video; its quotes are looked up here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from vr_kernel import Code, Media, Role, Structured, VrError

from vr_plugin_video.analyses import prompt
from vr_plugin_video.analyses.analysis import damage, linked
from vr_plugin_video.analyses.asked import Asked
from vr_plugin_video.analyses.at_hand import WordsAtHand, words_at_hand
from vr_plugin_video.analyses.meetings import form_of, wording
from vr_plugin_video.analyses.model_answers import base_analysis, custom_analysis, seen_analysis
from vr_plugin_video.analyses.timestamps import check_moments
from vr_plugin_video.analyses.windows import cut_windows, longest_window, tokens_a_second
from vr_plugin_video.arguments import MediaResolution
from vr_plugin_video.engine import LocalEngine, written
from vr_plugin_video.file_kinds import mime_to_send
from vr_plugin_video.job import Job
from vr_plugin_video.media import Media as MediaFacts
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.times import Window

ROLE: Role = "vision"


class ModelAnalyst:
    """Analyses by a vision model, one call of it for all that it takes at once."""

    def __init__(self, local: LocalEngine, asked: Asked) -> None:
        self._local = local
        self._asked = asked

    async def key(self, job: Job) -> str:
        """Names the result: everything that it depends on.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when no model can watch.
        """
        models = job.work.call.services.models
        return await self._local.recorder.key(
            job,
            "analysis",
            engine="model",
            prompt=prompt.VERSION,
            answers=models.identity(ROLE, thinking=self._asked.thinking_level),
            instruction=self._asked.instruction,
            output_schema=self._asked.output_schema,
            fps=self._asked.fps,
            media_resolution=self._asked.media_resolution,
            longest=self._longest(pictures=True),
        )

    async def analyse(self, job: Job) -> VideoAnalysis:
        """The analysis of a video, with its quotes looked up; recorded.

        What is longer than the model takes is watched in windows, each in a call of its own.

        Raises:
            VrError: for what is no media, or cannot be read here, before anything is paid; what
                the model raises.
        """
        media = await job.media()
        windows = await self._windows(job, media)
        make = self._at_once if len(windows) == 1 else self._in_windows
        analysis = await make(job, media.duration, windows)
        if not media.complete:
            told = [*damage(media, partial=True), *analysis.limits]
            analysis = analysis.model_copy(update={"partial": True, "limits": told})
        if not self._asked.output_schema:
            analysis = await self._checked(job, analysis)
        self._local.recorder.analysis(job, self._asked.instruction, analysis)
        return await job.work.aside(written, job, analysis)

    async def again(self, job: Job, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """The kept analysis; what could not be checked then is checked now, if it can be.

        Its records are written again when they were forgotten: they cost nothing.
        """
        recorder, instruction = self._local.recorder, self._asked.instruction
        if not await recorder.has_analysis(job, instruction, analysis):
            recorder.analysis(job, instruction, analysis)
        if all(moment.status != "unchecked" for moment in analysis.timestamps):
            return analysis
        checked = await self._checked(job, analysis)
        if checked.timestamps == analysis.timestamps:
            return checked
        return await job.work.aside(written, job, checked)

    async def _at_once(self, job: Job, duration: float, windows: Sequence[Window]) -> VideoAnalysis:
        job.work.call.progress(0, 100, "A model is watching the video")
        found = await self._ask(job, windows[0])
        base = base_analysis(job, duration, found.reply.model)
        if self._asked.output_schema:
            return custom_analysis(base, found.value)
        return seen_analysis(base, found.value, job)

    async def _in_windows(
        self, job: Job, duration: float, windows: Sequence[Window]
    ) -> VideoAnalysis:
        from vr_plugin_video.analyses.long_videos import LongVideo

        video = LongVideo(job, self._asked, duration, await self.key(job))
        return await video.analyse(windows, partial(self._ask, job))

    async def _ask(self, job: Job, window: Window, part: str = "") -> Structured[Any]:
        """What a model reports of a window; `part` tells it which part of the video that is."""
        asked = self._asked
        watched = await media_part(job, window, asked.fps, asked.media_resolution)
        task = prompt.task(wording(asked.instruction), custom=bool(asked.output_schema))
        found: Structured[Any] = await job.work.call.services.models.generate_structured(
            [watched, part, task] if part else [watched, task],
            asked.output_schema or form_of(asked.instruction),
            role=ROLE,
            system=prompt.SYSTEM,
            thinking=asked.thinking_level,
        )
        return found

    async def _windows(self, job: Job, media: MediaFacts) -> list[Window]:
        """The windows to watch; one when it fits, or when its length is not known."""
        start, end = await job.span()
        longest = self._longest(pictures=media.has_video)
        windows = cut_windows(start, end, longest, [chapter.start for chapter in media.chapters])
        return windows if len(windows) > 1 else [job.window]

    def _longest(self, *, pictures: bool) -> float:
        settings, asked = self._local.settings, self._asked
        rate = tokens_a_second(asked.fps, asked.media_resolution, pictures=pictures)
        return longest_window(settings.tokens_at_once, rate, settings.longest_window_s)

    async def _checked(self, job: Job, analysis: VideoAnalysis) -> VideoAnalysis:
        quotes = [moment.quote for moment in analysis.timestamps if moment.quote]
        words = await words_at_hand(self._local, job, quotes) if quotes else WordsAtHand()
        check = partial(check_moments, analysis.timestamps, words.spoken, words.shown)
        checked = await job.work.aside(check) if words else check()
        return analysis.model_copy(
            update={
                "timestamps": linked(checked.moments, job.source),
                "limits": [*analysis.limits, *checked.notes],
            }
        )


async def media_part(
    job: Job,
    window: Window,
    fps: float | None = None,
    resolution: MediaResolution | None = None,
) -> Media:
    """The part of a video that a model is to watch.

    Raises:
        VrError: as `Job.media` and `mime_to_send`.
    """
    source, start, end = job.source, window.start or None, window.end
    duration = await job.length()
    if source.at_youtube:
        return Media.youtube(
            source.video_id,
            start=start,
            end=end,
            fps=fps,
            resolution=resolution,
            duration=duration,
        )
    return Media(
        mime_to_send(await job.media()),
        file=source.file,
        digest=source.sha256,
        start=start,
        end=end,
        fps=fps,
        resolution=resolution,
        duration=duration,
    )


def no_model(reason: VrError) -> VrError:
    """The error of asking for a model where none can be reached."""
    return VrError(
        f"The engine gemini is not available: {reason.message}",
        reason.code if reason.code is Code.AUTH else Code.UNAVAILABLE,
        category="ENGINE_UNAVAILABLE",
        hint=f"{reason.hint} engine='local' works now, without a key.".strip(),
    )
