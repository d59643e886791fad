"""The local engine: watches and listens on this machine, without a key and without the network."""

from __future__ import annotations

import asyncio
from dataclasses import replace
from math import inf

from vr_kernel import Call, Services, VrError

from vr_plugin_video.analyses.analysis import Findings, analyse
from vr_plugin_video.analyses.recording import Recorder
from vr_plugin_video.analyses.report import report_of
from vr_plugin_video.captions.transcripts import Segment, Transcript
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.settings import VideoSettings
from vr_plugin_video.sources import Source
from vr_plugin_video.speech.listening import Listener
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window
from vr_plugin_video.vision.slides import Slides
from vr_plugin_video.vision.watching import Watcher
from vr_plugin_video.work import Work

VERSION = 2
"""Raised when the same findings would give another text."""
_LASTING = frozenset(
    {
        "EXTRA_MISSING",
        "MODEL_MISSING",
        "LANGUAGE_UNSUPPORTED",
        "FILE_UNSUPPORTED",
        "NO_WORDS",
        "NEEDS_FILE",
    }
)
"""Categories that a result's key names, or that the file itself causes."""
WATCHED = 55.0
HEARD = 98.0
"""Percent of a call that is done once a video was watched and listened to."""


class LocalEngine:
    """The loaded models and the recorder that all video tools of one kernel share."""

    def __init__(self, services: Services) -> None:
        settings = services.settings
        self.settings: VideoSettings = settings
        self.listener = Listener(services, settings)
        self.watcher = Watcher(services, settings)
        self.recorder = Recorder(services)
        self._turns = asyncio.Semaphore(1)

    def task(self, call: Call, source: Source, window: Window, *, use_cache: bool) -> VideoTask:
        """Make the task of one call about one source."""
        return VideoTask(Work(call, self._turns), source, window, use_cache)

    async def identity(self, task: VideoTask) -> str:
        """Name all that an analysis depends on besides file and arguments: the installed models."""
        spoken = await self.listener.identity(task, self.settings.language)
        seen = self.watcher.identity()
        return f"{VERSION}|{spoken}|{seen}|{self.settings.max_scenes}"

    async def watch(self, task: VideoTask) -> Findings:
        """Recognise speech and slides; failures go to the task's limits.

        Raises:
            VrError: when the file is not media, or nothing at all can be found out about it.
        """
        media, window = await task.media(), await task.span()
        errors: list[VrError] = []
        slides = await self._scenes(task, errors) if media.has_video else Slides()
        transcript = await self._words(task, errors, media.has_video)
        if not media.duration and transcript and transcript.segments:
            media = replace(media, duration=transcript.segments[-1].end)
            window = (window[0], min(window[1], media.duration))
        if errors and not (slides.slides or transcript or media.chapters):
            # A video at YouTube never has pictures, so the other error says more.
            raise errors[-1 if task.source.at_youtube else 0]
        return Findings(media, slides, transcript, window)

    async def analyse(self, task: VideoTask) -> VideoAnalysis:
        """Analyse a video, and record the moments by which it can be searched."""
        seen = await self.watch(task)
        parts, slides = seen.parts(), seen.slides.slides
        task.work.call.progress(HEARD, 100, "Writing the outline")
        await self.recorder.slides(task, slides, parts, again=True)
        await self.recorder.speech(
            task, seen.segments, seen.boundaries(), parts, slides, again=True
        )
        analysis = await task.work.in_thread(analyse, task, seen)
        return await task.work.in_thread(with_files, task, analysis)

    async def known(self, task: VideoTask) -> tuple[tuple[Segment, ...], tuple[Segment, ...]]:
        """Return speech and text on slides, as far as they were found before.

        Raises:
            VrError: the file is not media, or the window lies outside it.
        """
        transcript = await self.listener.known(task, self.settings.language)
        slides = await self.watcher.known(task, self.settings.max_scenes)
        shown = [
            Segment(start=slide.start, end=slide.end, text=slide.text)
            for slide in (slides.slides if slides else ())
            if slide.text
        ]
        return tuple(transcript.segments if transcript else ()), tuple(shown)

    async def aclose(self) -> None:
        """Release the loaded models."""
        self.listener.close()

    async def _scenes(self, task: VideoTask, errors: list[VrError]) -> Slides:
        most = self.settings.max_scenes
        try:
            slides, _ = await self.watcher.slides(task, most, (0.0, WATCHED), read=True)
        except VrError as error:
            _could_not(task, errors, "No scenes", error)
            return Slides()
        if slides.failure:
            task.limits.append(f"Text on screen was not read: {slides.failure}")
            task.repeatable = False
        if slides.found > len(slides.slides):
            task.limits.append(
                f"{slides.found} scenes were found, the {len(slides.slides)} longest looked at."
                " Raise max_scenes in [plugins.video] for more."
            )
        return slides

    async def _words(
        self, task: VideoTask, errors: list[VrError], has_video: bool
    ) -> Transcript | None:
        percent = (WATCHED if has_video else 0.0, HEARD)
        try:
            found, _ = await self.listener.transcript(task, self.settings.language, percent)
        except VrError as error:
            _could_not(task, errors, "No transcript", error)
            return None
        return found


def _could_not(task: VideoTask, errors: list[VrError], what: str, error: VrError) -> None:
    errors.append(error)
    task.limits.append(f"{what}: {error.message} {error.hint}".strip())
    task.repeatable = task.repeatable and error.category in _LASTING


def with_files(task: VideoTask, analysis: VideoAnalysis) -> VideoAnalysis:
    """Keep the whole analysis as files, and return it with their addresses; blocks."""
    keep = task.work.keep
    whole = keep(analysis.model_dump_json(indent=1).encode(), "application/json")
    window = task.window.of(analysis.duration or inf)
    report = keep(report_of(analysis, window).encode(), "text/markdown")
    if task.work.lost:
        task.repeatable = False
        analysis.limits.append(task.work.lost)
    return analysis.model_copy(
        update={
            "result_uri": whole.uri if whole else "",
            "report_uri": report.uri if report else "",
        }
    )
