"""Analyses of videos longer than a model takes: watched in windows, then merged."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from functools import partial
from typing import Any

from vr_kernel import Structured, VrError

from vr_plugin_video.analyses.kept_answers import KeptAnswers
from vr_plugin_video.analyses.meetings import is_meeting, notes_in, wording
from vr_plugin_video.analyses.merging import (
    SYSTEM,
    Watched,
    WholeMeeting,
    WholeVideo,
    merged_moments,
    merging_task,
    plainly_merged,
    span_of,
)
from vr_plugin_video.analyses.model_answers import TITLE_CHARS, base_analysis, custom_analysis
from vr_plugin_video.analyses.request import AnalysisRequest
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.parallel import run_bounded
from vr_plugin_video.task import VideoTask
from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.text.times import Window, format_time

AT_ONCE = 3
"""Windows of one video that are watched at a time."""
LEASE_LOST = "LEASE_LOST"
_PART = """\
You are given the part from {start} to {end} of a video that lasts {length}. Report this part alone.
Times count from the beginning of the whole video: the first moment of this part is {start}."""
Ask = Callable[[Window, str], Awaitable[Structured[Any]]]
"""Has a model watch a window; the text says which part of the video that is."""


class LongVideo:
    """One video that a model watches in windows, each in a call of its own.

    Args:
        task: the work.
        asked: what is wanted.
        duration: of the whole video, in seconds.
        key: names the analysis, for the cached answers that remain of a partial one.
    """

    def __init__(
        self, task: VideoTask, request: AnalysisRequest, duration: float, key: str
    ) -> None:
        self._task = task
        self._request = request
        self._duration = duration
        self._answers = KeptAnswers(task, request, key)

    async def analyse(self, windows: Sequence[Window], ask: Ask) -> VideoAnalysis:
        """Make the analysis; its quotes are not checked yet.

        A window that failed is named in `limits`; the answers of the others are kept, and are not
        paid again when the same call is repeated.

        Raises:
            VrError: when no window was watched; when answers in the caller's own form could not
                be put together.
        """
        watched = await self._watch(windows, ask)
        self._say(len(windows), len(windows), "Putting the parts together")
        models = ", ".join(dict.fromkeys(each.reply.model for each in watched))
        partial_result = len(watched) < len(windows)
        merge = self._merged_custom if self._request.output_schema else self._merged
        analysis = await merge(watched, base_analysis(self._task, self._duration, models))
        if not self._task.repeatable:
            self._keep(watched)
        return analysis.model_copy(update={"partial": partial_result})

    async def _watch(self, windows: Sequence[Window], ask: Ask) -> list[Watched]:
        limits = self._task.limits
        limits.append(
            f"It was watched in {len(windows)} parts, as it is longer than a model takes at once."
        )
        done = 0

        async def watch(window: Window) -> Watched | VrError:
            nonlocal done
            found = await self._window(window, ask)
            done += 1
            self._say(done, len(windows), f"A model watched {done} of {len(windows)} parts")
            return found

        self._say(0, len(windows), f"A model is watching the video in {len(windows)} parts")
        found = await run_bounded(AT_ONCE, [partial(watch, window) for window in windows])
        for window, each in zip(windows, found, strict=True):
            if isinstance(each, VrError):
                self._task.repeatable = False
                limits.append(f"Not watched: {span_of(window)}. {each.message} {each.hint}".strip())
        watched = [each for each in found if isinstance(each, Watched)]
        if not watched:
            raise next(each for each in found if isinstance(each, VrError))
        return watched

    async def _window(self, window: Window, ask: Ask) -> Watched | VrError:
        kept = await self._kept(window)
        if kept is not None:
            return kept
        start, end = format_time(window.start), format_time(window.end or self._duration)
        part = _PART.format(start=start, end=end, length=format_time(self._duration))
        try:
            found = await ask(window, part)
        except VrError as error:
            if error.category == LEASE_LOST:
                raise
            return error
        return Watched(window, found.value, found.reply)

    async def _merged(self, watched: Sequence[Watched], base: VideoAnalysis) -> VideoAnalysis:
        moments = merged_moments(watched)
        whole = await self._whole(watched)
        return base.model_copy(
            update={
                "title": one_line(whole.title, TITLE_CHARS) or base.title,
                "summary": whole.summary,
                "key_points": whole.key_points,
                "timestamps": moments.moments,
                "topics": whole.topics,
                "sentiment": whole.sentiment or None,
                "meeting": notes_in(whole),
                "limits": [*self._task.limits, *moments.notes],
            }
        )

    async def _whole(self, watched: Sequence[Watched]) -> WholeVideo:
        try:
            form = WholeMeeting if is_meeting(self._request.instruction) else WholeVideo
            whole: WholeVideo = (await self._put_together(watched, form)).value
        except VrError as error:
            if error.category == LEASE_LOST:
                raise
            self._task.repeatable = False
            self._task.limits.append(
                f"The parts stand one after the other: {error.message} {error.hint}".strip()
            )
            return plainly_merged(watched)
        return whole

    async def _merged_custom(
        self, watched: Sequence[Watched], base: VideoAnalysis
    ) -> VideoAnalysis:
        form = self._request.output_schema
        assert form
        found = await self._put_together(watched, form)
        return custom_analysis(base, found.value)

    async def _put_together(self, watched: Sequence[Watched], form: Any) -> Structured[Any]:
        made: Structured[Any] = await self._task.work.call.services.models.generate_structured(
            merging_task(wording(self._request.instruction), self._duration, watched),
            form,
            role="fast",
            system=SYSTEM,
            thinking=self._request.thinking_level,
        )
        return made

    async def _kept(self, window: Window) -> Watched | None:
        """Return the report about a window that a partial analysis left in the cache."""
        kept = await self._answers.find(start=window.start, end=window.end)
        return None if kept is None else Watched(window, kept.value, kept.reply)

    def _keep(self, watched: Sequence[Watched]) -> None:
        for each in watched:
            found = Structured(each.value, each.reply)
            self._answers.keep(found, start=each.window.start, end=each.window.end)

    def _say(self, done: int, count: int, message: str) -> None:
        # The last call, which merges the windows, counts as one of them.
        self._task.work.call.progress(100 * done / (count + 1), 100, message)
