"""Analyses by the local engine: without a key and without the network."""

from __future__ import annotations

from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.arguments import DEFAULT_INSTRUCTION, DEFAULT_THINKING
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.task import VideoTask
from vr_plugin_video.vision.thumbnails import with_current_paths


class LocalAnalyst:
    """Makes outlines of speech and slides; remarks name the arguments that it ignored."""

    def __init__(self, local: LocalEngine, request: AnalysisRequest) -> None:
        self._local = local
        self._request = request
        wishes = {
            "instruction": request.instruction
            if request.instruction != DEFAULT_INSTRUCTION
            else None,
            "output_schema": request.output_schema,
            "thinking_level": (
                request.thinking_level if request.thinking_level != DEFAULT_THINKING else None
            ),
            "fps": request.fps,
            "media_resolution": request.media_resolution,
        }
        self._ignored = {name: value for name, value in wishes.items() if value is not None}

    async def key(self, task: VideoTask) -> str:
        """Return the key of the result, which names everything that it depends on."""
        identity = await self._local.identity(task)
        recorder = self._local.recorder
        return await recorder.key(task, "analysis", identity=identity, ignored=self._ignored)

    async def analyse(self, task: VideoTask) -> VideoAnalysis:
        """Make the analysis and record it."""
        if self._ignored:
            task.limits.append(
                "The local engine makes an outline only; it did not use:"
                f" {', '.join(self._ignored)}."
            )
        analysis = await self._local.analyse(task)
        self._local.recorder.analysis(task, self._request.instruction, analysis)
        return analysis

    async def refreshed(self, task: VideoTask, analysis: VideoAnalysis) -> VideoAnalysis | None:
        """Return the cached analysis; None when its pictures or records are gone."""
        recorder = self._local.recorder
        slides = await task.work.in_thread(with_current_paths, task.services, analysis.slides)
        there = (
            slides is not None
            and await recorder.has_analysis(task, self._request.instruction, analysis)
            and await recorder.has_moments(task)
        )
        return analysis.model_copy(update={"slides": slides}) if there else None
