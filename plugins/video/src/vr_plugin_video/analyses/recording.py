"""Makes what was found searchable: records it once, and knows what this journal has already."""

from __future__ import annotations

from collections.abc import Sequence

from pydantic import BaseModel
from vr_kernel import Call, Record, Services, VrError, cache_key
from vr_kernel.storage import DAMAGED

from vr_plugin_video.analyses.meetings import call_notes
from vr_plugin_video.analyses.outline import Part
from vr_plugin_video.analyses.records import analysis_record, slide_records, speech_records
from vr_plugin_video.job import Job
from vr_plugin_video.kinds import SEGMENTS
from vr_plugin_video.models import VideoAnalysis
from vr_plugin_video.speech.passages import passages
from vr_plugin_video.speech.transcripts import Segment
from vr_plugin_video.vision.slides import Slide

SLIDES = "slides"
SPEECH = "speech"


class Recorded(BaseModel):
    """The keys of the records that the journal got of something."""

    keys: list[str]


async def is_recorded(call: Call, records: Sequence[tuple[str, str]]) -> bool:
    """Whether the journal has all of these, as kind and key.

    While it is damaged none could be recorded again: that is noted, and what is kept is given.
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
    """Records of one kernel's videos.

    What is kept in the cache under `key` stands for records in this journal and workspace. A hit
    needs to record nothing while they are there, and records them again when they were forgotten.
    """

    def __init__(self, services: Services) -> None:
        self._journal = services.journal

    async def key(self, job: Job, result: str, **parts: object) -> str:
        """The key of a result whose records are in this journal."""
        return cache_key(result=result, home=await self._home(job), **job.key_parts(), **parts)

    async def _home(self, job: Job) -> list[str]:
        return [job.services.workspace, await self._journal.home()]

    def analysis(self, job: Job, instruction: str, analysis: VideoAnalysis) -> None:
        """Record an analysis, and the notes of a meeting."""
        job.work.call.record(*_of_analysis(job, instruction, analysis))

    async def has_analysis(self, job: Job, instruction: str, analysis: VideoAnalysis) -> bool:
        """Whether the journal still has what `analysis` records."""
        kinds = job.services.kinds
        made = _of_analysis(job, instruction, analysis)
        return await self._has(job, [(r.kind, kinds[r.kind].identify(r.fields)) for r in made])

    async def has_moments(self, job: Job) -> bool:
        """Whether the journal still has what was recorded of slides and speech, if anything was."""
        for what in (SLIDES, SPEECH):
            keys = dict.fromkeys([await self._span(job, what), await self._whole(job, what)])
            found = [await job.services.cache.model(key, Recorded).get() for key in keys]
            marks = [mark for mark in found if mark is not None]
            if marks and not any([await self._stands(job, mark) for mark in marks]):
                return False
        return True

    async def slides(
        self, job: Job, slides: Sequence[Slide], parts: Sequence[Part], *, again: bool = False
    ) -> None:
        """Record the text of slides; `again` even when that was done before."""
        shown = [slide.model_dump(exclude={"thumbnail_path"}) for slide in slides if slide.text]
        key = await self.key(job, SLIDES, shown=shown)
        if shown and await self._wanted(job, SLIDES, key, again=again):
            await self._record(job, SLIDES, key, slide_records(job.source, slides, parts))

    async def speech(
        self,
        job: Job,
        segments: Sequence[Segment],
        boundaries: Sequence[float],
        parts: Sequence[Part],
        slides: Sequence[Slide] = (),
        *,
        again: bool = False,
    ) -> None:
        """Record what is said, in passages; `again` even when that was done before."""
        found = await job.work.aside(passages, segments, boundaries)
        key = await self.key(job, SPEECH, said=[passage.model_dump() for passage in found])
        if found and await self._wanted(job, SPEECH, key, again=again):
            made = await job.work.aside(speech_records, job.source, found, parts, slides)
            await self._record(job, SPEECH, key, made)

    async def _wanted(self, job: Job, what: str, key: str, *, again: bool) -> bool:
        """Whether to record: what a window clips would only repeat the records of a whole video."""
        if not job.use_cache:
            return True
        if not job.window.is_whole and await self._recorded(job, await self._whole(job, what)):
            return False
        return again or not await self._recorded(job, key)

    async def _recorded(self, job: Job, key: str) -> bool:
        mark = await job.services.cache.model(key, Recorded).get()
        return mark is not None and await self._stands(job, mark)

    async def _stands(self, job: Job, mark: Recorded) -> bool:
        return await self._has(job, [(SEGMENTS, key) for key in mark.keys])

    async def _has(self, job: Job, records: Sequence[tuple[str, str]]) -> bool:
        return await is_recorded(job.work.call, records)

    async def _record(self, job: Job, what: str, key: str, records: Sequence[Record]) -> None:
        call: Call = job.work.call
        call.record(*records)
        if job.use_cache:
            mark = Recorded(keys=[record.key for record in records if record.key])
            for kept in (key, await self._span(job, what)):
                call.keep(kept, mark, content_id=job.source.video_id)

    async def _span(self, job: Job, what: str) -> str:
        """The key of what this window, or the whole, has."""
        if job.window.is_whole:
            return await self._whole(job, what)
        return await self.key(job, f"span of {what}")

    async def _whole(self, job: Job, what: str) -> str:
        return cache_key(whole=what, home=await self._home(job), content=job.source.video_id)


def _of_analysis(job: Job, instruction: str, analysis: VideoAnalysis) -> list[Record]:
    made = analysis_record(job.source, instruction, job.window, analysis)
    return [made, *call_notes(job.source, analysis)]
