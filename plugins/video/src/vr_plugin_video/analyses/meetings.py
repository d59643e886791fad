"""Meetings: the instruction `meeting`, the form of its answers, and the notes that are stored."""

from __future__ import annotations

from typing import Any

from vr_kernel import Record

from vr_plugin_video.analyses.prompt import SeenVideo
from vr_plugin_video.models import MeetingNotes, VideoAnalysis
from vr_plugin_video.record_kinds import CALL_NOTES
from vr_plugin_video.sources import Source

PRESET = "meeting"
INSTRUCTION = (
    "This is the recording of a meeting or a call. Report who takes part, by name or role; what is"
    " decided; and the action items: who is to do what, and until when if that is said. Leave out"
    " what is not said."
)


class SeenMeeting(SeenVideo, MeetingNotes):
    """A model's report of a meeting."""


def is_meeting(instruction: str) -> bool:
    """True when an instruction is the preset."""
    return instruction.strip().lower() == PRESET


def wording(instruction: str) -> str:
    """Return the instruction for a model, with the preset written out."""
    return INSTRUCTION if is_meeting(instruction) else instruction


def form_of(instruction: str) -> type[SeenVideo]:
    """The form of a model's answer about a video."""
    return SeenMeeting if is_meeting(instruction) else SeenVideo


def notes_in(answer: Any) -> MeetingNotes | None:
    """The notes of a meeting that an answer holds; None for one about something else."""
    if not isinstance(answer, MeetingNotes):
        return None
    return MeetingNotes.model_validate(answer.model_dump(include=set(MeetingNotes.model_fields)))


def call_notes(source: Source, analysis: VideoAnalysis) -> list[Record]:
    """The record of a meeting's notes, one per video; none for another analysis."""
    if analysis.meeting is None:
        return []
    fields = {
        "video_id": source.video_id,
        "source_url": source.url,
        "title": analysis.title,
        "summary": analysis.summary,
        "topics_discussed": analysis.topics,
        **analysis.meeting.model_dump(),
    }
    return [Record(CALL_NOTES.name, fields)]
