"""Transcripts that a model wrote before: their place in the cache."""

from __future__ import annotations

from pydantic import BaseModel
from vr_kernel import Role, VrError, cache_key

from vr_plugin_video.arguments import ThinkingLevel
from vr_plugin_video.captions.transcripts import Transcript
from vr_plugin_video.speech.said_lines import VERSION
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window

ROLE: Role = "vision"
THINKING: ThinkingLevel = "low"


class Heard(BaseModel):
    """A transcript as it is cached."""

    transcript: Transcript
    cached: bool = False


def words_key(task: VideoTask, window: Window, language: str) -> str:
    """Return the key of a transcript, which names all that it depends on.

    Raises:
        VrError: AUTH when a key is missing; UNAVAILABLE when no model can listen.
    """
    return cache_key(
        result="words",
        version=VERSION,
        answers=task.work.call.services.models.identity(ROLE, thinking=THINKING),
        language=language,
        content=task.source.video_id,
        start=window.start,
        end=window.end,
    )


async def known_words(task: VideoTask, language: str) -> Transcript | None:
    """Return a transcript that a model wrote before, of the whole video or of the same window."""
    for window in dict.fromkeys((Window(), task.window)):
        try:
            key = words_key(task, window, language)
        except VrError:
            return None
        kept = await task.work.call.services.cache.model(key, Heard).get()
        if kept is not None:
            return kept.transcript.between(*await task.span())
    return None
