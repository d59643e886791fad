"""Analyses by a vision model that watches the video; its quotes are checked here."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any

from vr_kernel import Code, Media, ModelInfo, Part, Structured, VrError

from vr_plugin_video.analyses import prompt
from vr_plugin_video.analyses.analysis import damage, linked
from vr_plugin_video.analyses.described_video import describe
from vr_plugin_video.analyses.kept_answers import KeptAnswers
from vr_plugin_video.analyses.known_text import KnownText, find_known_text
from vr_plugin_video.analyses.local_engine import LocalEngine, with_files
from vr_plugin_video.analyses.meetings import form_of, wording
from vr_plugin_video.analyses.model_answers import base_analysis, custom_analysis, seen_analysis
from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.analyses.timestamps import check_moments
from vr_plugin_video.analyses.vision_models import ROLE, ask_in_turn, watches
from vr_plugin_video.analyses.windows import cut_windows, longest_window, tokens_a_second
from vr_plugin_video.arguments import MediaResolution
from vr_plugin_video.media.info import MediaInfo, mime_to_send
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window


class ModelAnalyst:
    """Analyses by a vision model; one call of it watches as much as it takes at once."""

    def __init__(self, local: LocalEngine, request: AnalysisRequest) -> None:
        self._local = local
        self._request = request

    async def key(self, task: VideoTask) -> str:
        """Return the key of the result, which names everything that it depends on.

        Raises:
            VrError: AUTH when a key is missing; UNAVAILABLE when no model can watch.
        """
        models = task.work.call.services.models
        return await self._local.recorder.key(
            task,
            "analysis",
            engine="model",
            prompt=prompt.VERSION,
            answers=models.identity(ROLE, thinking=self._request.thinking_level),
            instruction=self._request.instruction,
            output_schema=self._request.output_schema,
            fps=self._request.fps,
            media_resolution=self._request.media_resolution,
            longest=self._longest(pictures=True),
            **({} if watches(task) else {"described": self._local.settings.frames_at_once}),
        )

    async def analyse(self, task: VideoTask) -> VideoAnalysis:
        """Analyse a video, check the quotes, and record the analysis.

        What is longer than the model takes is watched in windows, each in a call of its own.

        Raises:
            VrError: for a file that is not media, or cannot be read here, before anything is paid;
                what the model raises.
        """
        media = await task.media()
        windows = await self._windows(task, media)
        analysis = await self._report(task, media.duration, windows)
        if not media.complete:
            told = [*damage(media, partial=True), *analysis.limits]
            analysis = analysis.model_copy(update={"partial": True, "limits": told})
        if not self._request.output_schema:
            analysis = await self._checked(task, analysis)
        self._local.recorder.analysis(task, self._request.instruction, analysis)
        return await task.work.in_thread(with_files, task, analysis)

    async def refreshed(self, task: VideoTask, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """Return the cached analysis; quotes that were unchecked are checked now, if they can be.

        Its records are written again when they were deleted: that costs nothing.
        """
        recorder, instruction = self._local.recorder, self._request.instruction
        if not await recorder.has_analysis(task, instruction, analysis):
            recorder.analysis(task, instruction, analysis)
        if all(moment.status != "unchecked" for moment in analysis.timestamps):
            return analysis
        checked = await self._checked(task, analysis)
        if checked.timestamps == analysis.timestamps:
            return checked
        return await task.work.in_thread(with_files, task, checked)

    async def _report(
        self, task: VideoTask, duration: float, windows: Sequence[Window]
    ) -> VideoAnalysis:
        """The analysis by the models that watch, or else by one that gets pictures and words."""
        task.work.call.progress(0, 100, "A model is looking at the video")

        async def watch() -> VideoAnalysis:
            if len(windows) == 1:
                return self._analysis(task, duration, await self._ask(task, windows[0]))
            return await self._in_windows(task, duration, windows)

        async def read(model: ModelInfo) -> VideoAnalysis:
            found = await kept.find(reader=model.name)
            if found is None:
                found = await self._ask_described(task, model)
                paid[model.name] = found
            else:
                task.limits.append(f"{model.name} does not watch videos; it answered before.")
            return self._analysis(task, duration, found)

        kept, paid = KeptAnswers(task, self._request, await self.key(task)), dict[str, Any]()
        analysis = await ask_in_turn(task, watch if watches(task) else None, read)
        for name, found in paid.items() if not task.repeatable else ():
            kept.keep(found, reader=name)
        return analysis

    def _analysis(self, task: VideoTask, duration: float, found: Structured[Any]) -> VideoAnalysis:
        base = base_analysis(task, duration, found.reply.model)
        if self._request.output_schema:
            return custom_analysis(base, found.value)
        return seen_analysis(base, found.value, task)

    async def _in_windows(
        self, task: VideoTask, duration: float, windows: Sequence[Window]
    ) -> VideoAnalysis:
        from vr_plugin_video.analyses.long_videos import LongVideo

        video = LongVideo(task, self._request, duration, await self.key(task))
        return await video.analyse(windows, partial(self._ask, task))

    async def _ask(self, task: VideoTask, window: Window, part: str = "") -> Structured[Any]:
        """Have a model watch a window; `part` tells it which part of the video that is."""
        request = self._request
        watched = await media_part(task, window, request.fps, request.media_resolution)
        return await self._put(task, [watched, *filter(None, [part])])

    async def _ask_described(self, task: VideoTask, model: ModelInfo) -> Structured[Any]:
        """Have a model report on the pictures and words of a video."""
        local, request = self._local, self._request
        described = await describe(
            local, task, model, local.settings.frames_at_once, request.media_resolution
        )
        task.limits.extend(described.notes)
        return await self._put(task, described.parts, model=model.name)

    async def _put(
        self, task: VideoTask, shown: Sequence[Part | str], model: str = ""
    ) -> Structured[Any]:
        request = self._request
        asking = prompt.make_prompt(
            wording(request.instruction), custom=bool(request.output_schema)
        )
        found: Structured[Any] = await task.work.call.services.models.generate_structured(
            [*shown, asking],
            request.output_schema or form_of(request.instruction),
            role=ROLE,
            system=prompt.SYSTEM,
            thinking=request.thinking_level,
            model=model,
        )
        return found

    async def _windows(self, task: VideoTask, media: MediaInfo) -> list[Window]:
        """The windows to watch; one when it fits, or when its length is not known."""
        if not watches(task):
            return [task.window]
        start, end = await task.span()
        longest = self._longest(pictures=media.has_video)
        windows = cut_windows(start, end, longest, [chapter.start for chapter in media.chapters])
        return windows if len(windows) > 1 else [task.window]

    def _longest(self, *, pictures: bool) -> float:
        settings, request = self._local.settings, self._request
        rate = tokens_a_second(request.fps, request.media_resolution, pictures=pictures)
        return longest_window(settings.tokens_at_once, rate, settings.longest_window_s)

    async def _checked(self, task: VideoTask, analysis: VideoAnalysis) -> VideoAnalysis:
        quotes = [moment.quote for moment in analysis.timestamps if moment.quote]
        words = await find_known_text(self._local, task, quotes) if quotes else KnownText()
        check = partial(check_moments, analysis.timestamps, words.spoken, words.shown)
        checked = await task.work.in_thread(check) if words else check()
        return analysis.model_copy(
            update={
                "timestamps": linked(checked.moments, task.source),
                "limits": [*analysis.limits, *checked.notes],
            }
        )


async def media_part(
    task: VideoTask,
    window: Window,
    fps: float | None = None,
    resolution: MediaResolution | None = None,
) -> Media:
    """Return the part of a video that a model is to watch.

    Raises:
        VrError: as `VideoTask.media` and `mime_to_send`.
    """
    source, start, end = task.source, window.start or None, window.end
    duration = await task.length()
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
        mime_to_send(await task.media()),
        file=source.file,
        digest=source.sha256,
        start=start,
        end=end,
        fps=fps,
        resolution=resolution,
        duration=duration,
    )


def no_model(reason: VrError) -> VrError:
    """The error for a model that is asked for and cannot be reached."""
    return VrError(
        f"The engine gemini is not available: {reason.message}",
        reason.code if reason.code is Code.AUTH else Code.UNAVAILABLE,
        category="ENGINE_UNAVAILABLE",
        hint=f"{reason.hint} engine='local' works now, without a key.".strip(),
    )
