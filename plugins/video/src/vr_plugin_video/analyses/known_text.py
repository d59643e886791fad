"""Text of a video that is known already: captions, cached speech and slides, records."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from vr_kernel import Filter, Hit, Query, VrError

from vr_plugin_video.analyses.local_engine import LocalEngine
from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.record_kinds import SEGMENTS
from vr_plugin_video.task import VideoTask

RECORDS = 300
"""Most records that are read."""
QUESTION_CHARS = 4000


@dataclass(frozen=True, slots=True)
class KnownText:
    """Speech and text on screen in order of time; empty when not known."""

    spoken: tuple[Segment, ...] = ()
    shown: tuple[Segment, ...] = ()

    def __bool__(self) -> bool:
        return bool(self.spoken or self.shown)


async def find_known_text(local: LocalEngine, task: VideoTask, quotes: Sequence[str]) -> KnownText:
    """Find all text that is known without listening or looking now.

    Records are searched by the words of `quotes`, so that those of a long video that can matter are
    found.
    """
    spoken, shown = await local.known(task)
    if spoken and shown:
        return KnownText(spoken, shown)
    recorded = await _recorded(task, quotes)
    return KnownText(
        spoken or _of(recorded, "speech"),
        shown or _of(recorded, "slide"),
    )


async def _recorded(task: VideoTask, quotes: Sequence[str]) -> list[Hit]:
    services = task.work.call.services
    question = " ".join(quotes)[:QUESTION_CHARS]
    if not question.strip() or not services.store.available():
        return []
    query = Query(
        question,
        mode="keyword",
        kinds=(SEGMENTS,),
        filters=(Filter("video_id", "=", task.source.video_id),),
        limit=RECORDS,
        workspace=services.workspace,
    )
    try:
        return await services.store.search(query)
    except VrError as error:
        task.limits.append(f"Quotes were not checked against records: {error.message}")
        return []


def _of(hits: Sequence[Hit], origin: str) -> tuple[Segment, ...]:
    found = [
        Segment(start=fields["start"], end=fields["end"], text=fields["text"])
        for fields in (hit.record.fields for hit in hits)
        if fields.get("origin") == origin
    ]
    return tuple(sorted(found, key=lambda segment: segment.start))
