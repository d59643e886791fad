"""Transcripts by a model that listens, where there are no captions and no speech model."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from vr_kernel import Call, Code, Structured, VrError

from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.analyses.model_analyst import media_part, no_model
from vr_plugin_video.analyses.windows import OVERLAP_S, cut_windows
from vr_plugin_video.arguments import EngineChoice
from vr_plugin_video.captions.transcripts import Segment, Transcript
from vr_plugin_video.speech.listening import NOBODY_LISTENS, no_words
from vr_plugin_video.speech.model_words import ROLE, THINKING, Heard, known_words, words_key
from vr_plugin_video.speech.said_lines import (
    SYSTEM,
    UsableLines,
    answer_form,
    make_prompt,
    usable_lines,
)
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.times import Window, format_time
from vr_plugin_video.work import Percent

LONGEST_WINDOW_S = 1200.0
"""Seconds of a window: 20 minutes of speech are about 15,000 tokens, well below models' limits."""
GLANCE_FPS = 0.2
"""Frames per second: pictures matter little to speech; one in five seconds shows the speaker."""


async def transcript_by(
    engine: EngineChoice, local: LocalEngine, task: VideoTask, language: str, percent: Percent
) -> tuple[Transcript, bool]:
    """Return the transcript of a video, and True if it came from the cache.

    `auto` reads captions, else listens on this machine, else asks a model when one is ready;
    `local` never asks one, `gemini` always does.

    Raises:
        VrError: what `Listener.transcript` raises; AUTH or UNAVAILABLE, category
            ENGINE_UNAVAILABLE, when `gemini` is asked for and no model can be reached; what
            the model raises.
    """
    if engine == "gemini":
        return await ModelListener(local).transcript(task, language)
    try:
        return await local.listener.transcript(task, language, percent)
    except VrError as error:
        ready = engine == "auto" and task.work.call.services.models.ready(ROLE, "video")
        if not (ready and await _may_be_heard(task, language, error)):
            raise
        task.limits.append(f"{error.message} So a model listened.")
    return await ModelListener(local).transcript(task, language)


async def _may_be_heard(task: VideoTask, language: str, error: VrError) -> bool:
    """True when a model may find words; not when there are captions in other languages."""
    if not task.source.at_youtube:
        return error.category in NOBODY_LISTENS - {"NO_WORDS"}
    if error.category != "CAPTIONS_MISSING":
        return error.code is Code.UNAVAILABLE
    if language:
        try:
            await task.youtube.captions(task.source.video_id, "")
        except VrError:
            return True
        return False
    return True


class ModelListener:
    """Has a vision model write down speech, in windows one after the other."""

    def __init__(self, local: LocalEngine) -> None:
        self._local = local

    async def transcript(self, task: VideoTask, language: str) -> tuple[Transcript, bool]:
        """Return the transcript of the task's window, and True if it came from the cache.

        The answers of windows before a failed one are committed, and not paid again.

        Raises:
            VrError: UNSUPPORTED without sound, before anything is paid; AUTH or UNAVAILABLE,
                category ENGINE_UNAVAILABLE, when no model can be reached; UNAVAILABLE,
                category REPLY_INVALID, when nothing that the model wrote can be used.
        """
        if not (await task.media()).has_audio:
            raise no_words()
        try:
            key = words_key(task, task.window, language)
        except VrError as error:
            raise no_model(error) from None
        if not task.use_cache:
            return await self._listen(task, language), False
        kept = await known_words(task, language)
        if kept is not None:
            return kept, True

        async def produce(shared: Call) -> Heard:
            async with task.shared_by(shared) as own:
                return Heard(transcript=await self._listen(own, language))

        heard = await task.work.call.once(key, Heard, produce, content_id=task.source.video_id)
        return heard.transcript, heard.cached

    async def _listen(self, task: VideoTask, language: str) -> Transcript:
        start, end = await task.span()
        chapters = [chapter.start for chapter in (await task.media()).chapters]
        windows = cut_windows(start, end, LONGEST_WINDOW_S, chapters)
        script = _Script()
        for number, window in enumerate(windows):
            message = f"A model is listening: {format_time(window.start)}"
            task.work.call.progress(100 * number / len(windows), 100, message)
            # A whole video is sent unchanged, so that it is the same part as for an analysis.
            part = window if len(windows) > 1 else task.window
            found = await self._ask(task, part, language, script.speakers)
            middle = OVERLAP_S / 2
            first = window.start + (middle if number else 0.0)
            last = windows[number + 1].start + middle if number + 1 < len(windows) else end
            script.add(usable_lines(found.value, window, first, last), found)
        return script.transcript(language)

    async def _ask(
        self, task: VideoTask, window: Window, language: str, speakers: Sequence[str]
    ) -> Structured[Any]:
        seen = (await task.media()).has_video
        glance = partial(media_part, fps=GLANCE_FPS, resolution="low") if seen else media_part
        part = await glance(task, window)
        found: Structured[Any] = await task.work.call.services.models.generate_structured(
            [part, make_prompt(window, language, speakers)],
            answer_form(window, (await task.span())[1]),
            role=ROLE,
            system=SYSTEM,
            thinking=THINKING,
        )
        return found


@dataclass(slots=True)
class _Script:
    """The lines that were written down so far."""

    segments: list[Segment] = field(default_factory=list)
    languages: list[str] = field(default_factory=list)
    models: list[str] = field(default_factory=list)
    lines: int = 0
    lost: int = 0
    moved: bool = False

    @property
    def speakers(self) -> list[str]:
        """The speakers so far, in the order of their first words."""
        return list(dict.fromkeys(s.speaker for s in self.segments if s.speaker))

    def add(self, usable: UsableLines, found: Structured[Any]) -> None:
        """Add what was heard in the next window."""
        self.segments += usable.segments
        self.lines += usable.lines
        self.lost += usable.lost
        self.moved = self.moved or usable.moved
        self.models.append(found.reply.model)
        self.languages.append(usable.language)

    def transcript(self, wanted: str) -> Transcript:
        """Return the whole transcript."""
        notes = ["The words and their times are a model's, and nobody checked them."]
        if self.moved:
            notes.append("It counted times from the start of a part; they were corrected.")
        if self.lost:
            notes.append(
                f"{self.lost} of {self.lines} lines were left out: they have no words, or no"
                " time in the part that was heard."
            )
        return Transcript(
            segments=tuple(self.segments),
            origin="model",
            language=next(filter(None, self.languages), wanted),
            model=", ".join(dict.fromkeys(self.models)),
            notes=tuple(notes),
        )
