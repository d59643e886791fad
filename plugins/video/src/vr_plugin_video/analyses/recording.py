"""Records findings: once, and again when they were deleted from the journal."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, Record, Services, VrError, cache_key
from vr_kernel.storage import DAMAGED

from vr_plugin_video.analyses.meetings import call_notes
from vr_plugin_video.analyses.outline import Part
from vr_plugin_video.analyses.passages import passages
from vr_plugin_video.analyses.records import analysis_record, slide_records, speech_records
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.record_kinds import SEGMENTS
from vr_plugin_video.task import VideoTask
from vr_plugin_video.vision.slides import Slide

SLIDES = "slides"
SPEECH = "speech"


class Recorded(BaseModel):
    """The keys of records that were journalled together."""

    keys: list[str]


async def is_recorded(call: Call, records: Sequence[tuple[str, str]]) -> bool:
    """Check if the journal has all of these records, each given as kind and key.

    While the journal is damaged none could be recorded again: then it adds a note and returns True.
    """
    services = call.services
    try:
        return await services.journal.has(services.workspace, records)
    except VrError as error:
        if error.category != DAMAGED:
            raise
        note = await services.journal.continuity.lacks(owner=services.identity.is_owner)
        if note not in call.notes:
            call.note(note)
        return True


class Recorder:
    """Writes the records of one kernel's videos.

    A cache entry under `key` stands for records in this journal and workspace: a hit writes nothing
    while they are there, and writes them again when they were deleted.
    """

    def __init__(self, services: Services) -> None:
        self._journal = services.journal

    async def key(self, task: VideoTask, result: str, **parts: object) -> str:
        """The key of a result whose records are in this journal."""
        return cache_key(result=result, home=await self._home(task), **task.key_parts(), **parts)

    async def _home(self, task: VideoTask) -> list[str]:
        return [task.services.workspace, await self._journal.home()]

    def analysis(self, task: VideoTask, instruction: str, analysis: VideoAnalysis) -> None:
        """Record an analysis, and the notes of a meeting."""
        task.work.call.record(*_of_analysis(task, instruction, analysis))

    async def has_analysis(
        self, task: VideoTask, instruction: str, analysis: VideoAnalysis
    ) -> bool:
        """Check if the journal still has the records of `analysis`."""
        kinds = task.services.kinds
        made = _of_analysis(task, instruction, analysis)
        return await self._has(task, [(r.kind, kinds[r.kind].identify(r.fields)) for r in made])

    async def has_moments(self, task: VideoTask) -> bool:
        """Check if the journal still has the records of slides and speech, if there were any."""
        for what in (SLIDES, SPEECH):
            keys = dict.fromkeys([await self._span(task, what), await self._whole(task, what)])
            found = [await task.services.cache.model(key, Recorded).get() for key in keys]
            marks = [mark for mark in found if mark is not None]
            if marks and not any([await self._stands(task, mark) for mark in marks]):
                return False
        return True

    async def slides(
        self,
        task: VideoTask,
        slides: Sequence[Slide],
        parts: Sequence[Part],
        *,
        again: bool = False,
    ) -> None:
        """Record the text of slides; `again` even when that was done before."""
        shown = [slide.model_dump(exclude={"thumbnail_path"}) for slide in slides if slide.text]
        key = await self.key(task, SLIDES, shown=shown)
        if shown and await self._wanted(task, SLIDES, key, again=again):
            await self._record(task, SLIDES, key, slide_records(task.source, slides, parts))

    async def speech(
        self,
        task: VideoTask,
        segments: Sequence[Segment],
        boundaries: Sequence[float],
        parts: Sequence[Part],
        slides: Sequence[Slide] = (),
        *,
        again: bool = False,
    ) -> None:
        """Record speech, in passages; `again` even when that was done before."""
        found = await task.work.in_thread(passages, segments, boundaries)
        key = await self.key(task, SPEECH, said=[passage.model_dump() for passage in found])
        if found and await self._wanted(task, SPEECH, key, again=again):
            made = await task.work.in_thread(speech_records, task.source, found, parts, slides)
            await self._record(task, SPEECH, key, made)

    async def _wanted(self, task: VideoTask, what: str, key: str, *, again: bool) -> bool:
        """True when there is something to record; a window repeats records of the whole video."""
        if not task.use_cache:
            return True
        if not task.window.is_whole and await self._recorded(task, await self._whole(task, what)):
            return False
        return again or not await self._recorded(task, key)

    async def _recorded(self, task: VideoTask, key: str) -> bool:
        mark = await task.services.cache.model(key, Recorded).get()
        return mark is not None and await self._stands(task, mark)

    async def _stands(self, task: VideoTask, mark: Recorded) -> bool:
        return await self._has(task, [(SEGMENTS, key) for key in mark.keys])

    async def _has(self, task: VideoTask, records: Sequence[tuple[str, str]]) -> bool:
        return await is_recorded(task.work.call, records)

    async def _record(
        self, task: VideoTask, what: str, key: str, records: Sequence[Record]
    ) -> None:
        call: Call = task.work.call
        call.record(*records)
        if task.use_cache:
            mark = Recorded(keys=[record.key for record in records if record.key])
            for kept in (key, await self._span(task, what)):
                call.keep(kept, mark, content_id=task.source.video_id)

    async def _span(self, task: VideoTask, what: str) -> str:
        """The key of the cache entry that marks this window, or the whole video, as recorded."""
        if task.window.is_whole:
            return await self._whole(task, what)
        return await self.key(task, f"span of {what}")

    async def _whole(self, task: VideoTask, what: str) -> str:
        return cache_key(whole=what, home=await self._home(task), content=task.source.video_id)


def _of_analysis(task: VideoTask, instruction: str, analysis: VideoAnalysis) -> list[Record]:
    made = analysis_record(task.source, instruction, task.window, analysis)
    return [made, *call_notes(task.source, analysis)]
