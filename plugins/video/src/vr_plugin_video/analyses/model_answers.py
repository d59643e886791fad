"""Analyses made of what a vision model answered."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from vr_plugin_video.analyses.meetings import notes_in
from vr_plugin_video.analyses.prompt import SeenVideo
from vr_plugin_video.analyses.timestamps import claimed_moments
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.plain_text import one_line

TITLE_CHARS = 200
SUMMARY_CHARS = 600


def base_analysis(task: VideoTask, duration: float, model: str) -> VideoAnalysis:
    """An analysis without content, to be filled.

    Args:
        task: the work.
        duration: in seconds; 0 when it is not known.
        model: the one that watched, as `provider/name`.
    """
    return VideoAnalysis(
        source=task.source.url,
        video_id=task.source.video_id,
        duration=duration or None,
        engine="gemini" if model.startswith("gemini/") else "model",
        model=model,
        limits=list(task.limits),
        title=task.source.name,
        summary="",
        key_points=[],
        timestamps=[],
        topics=[],
    )


def seen_analysis(base: VideoAnalysis, seen: SeenVideo, task: VideoTask) -> VideoAnalysis:
    """Fill an analysis with a model's report; its moments are not checked yet."""
    end = task.window.end or base.duration
    claimed = claimed_moments(seen.timestamps, task.window.start, end)
    return base.model_copy(
        update={
            "title": one_line(seen.title, TITLE_CHARS) or base.title,
            "summary": seen.summary,
            "key_points": seen.key_points,
            "timestamps": claimed.moments,
            "topics": seen.topics,
            "sentiment": seen.sentiment or None,
            "meeting": notes_in(seen),
            "limits": [*base.limits, *claimed.notes],
        }
    )


def custom_analysis(base: VideoAnalysis, value: Any) -> VideoAnalysis:
    """Fill an analysis with an answer in the caller's own form."""
    custom = value if isinstance(value, dict) else {"value": value}
    said = " ".join(_texts(custom))
    return base.model_copy(update={"summary": one_line(said, SUMMARY_CHARS), "custom": custom})


def _texts(value: Any) -> Sequence[str]:
    """The texts of a JSON value, in its order."""
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for item in inner for text in _texts(item)]
