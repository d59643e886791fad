"""Results of the video tools."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field, PlainSerializer, PrivateAttr
from vr_kernel import Usage
from vr_kernel.quoting import Verdict

from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.text.times import Window

Engine = Literal["local", "gemini", "model"]
ClipFormat = Literal["mp4", "gif", "jpg", "mp3"]
Seconds = Annotated[float, PlainSerializer(lambda value: round(value, 2), return_type=float)]


class Moment(BaseModel):
    """A time, as `00:47` and in seconds, what happens then, and a link to it.

    A model's moment was checked against what is said and shown: `verified` within 20 s of its time,
    `moved` to where its quote was found, `not_found`, or `unchecked` without a text to search. The
    local engine quotes nothing and leaves these fields out.
    """

    time: str
    seconds: Seconds
    description: str
    link: str | None = Field(None, exclude_if=lambda value: value is None)
    quote: str = Field("", exclude_if=lambda value: not value)
    status: Verdict | Literal[""] = Field("", exclude_if=lambda value: not value)
    original_time: str | None = Field(
        None, description="the model's own time", exclude_if=lambda value: value is None
    )


class ChapterPart(BaseModel):
    """A chapter that the file names."""

    start: Seconds
    end: Seconds
    title: str


class Scene(BaseModel):
    """A slide or scene: seconds, a picture of it, and the text on it."""

    start: Seconds
    end: Seconds
    title: str = ""
    text: str = ""
    thumbnail_uri: str = ""
    thumbnail_path: str = ""


class TranscriptSummary(BaseModel):
    """The origin of the words; the words are in `segments`, or come from video_transcript."""

    origin: str
    language: str
    segments: int


class Result(BaseModel):
    """The fields that all results share: the source, and how they were made."""

    source: str
    video_id: str
    duration: Seconds | None = Field(None, description="None when it is not known")
    engine: Engine = "local"
    model: str = Field("", description="what watched, or recognised speech and text")
    cached: bool = False
    usage: Usage | None = None
    partial: bool = Field(default=False, description="the file could be read in part only")
    limits: list[str] = Field([], description="what could not be done, and what to do about it")


class MeetingNotes(BaseModel):
    """Notes of a meeting; for the instruction `meeting`."""

    participants: list[str]
    decisions: list[str]
    action_items: list[str]


class VideoAnalysis(Result):
    """An analysis of one video."""

    title: str
    summary: str
    key_points: list[str]
    timestamps: list[Moment]
    topics: list[str]
    sentiment: str | None = None
    chapters: list[ChapterPart] = []
    slides: list[Scene] = []
    transcript: TranscriptSummary | None = None
    segments: list[Segment] = []
    result_uri: str = Field("", description="the whole result as JSON")
    report_uri: str = Field("", description="the whole result as Markdown")
    custom: dict[str, Any] | None = None
    meeting: MeetingNotes | None = Field(None, exclude_if=lambda value: value is None)
    _window: Window = PrivateAttr(Window())

    @property
    def window(self) -> Window:
        """The part of the video that was asked for; no part of the result."""
        return self._window

    def within(self, window: Window) -> VideoAnalysis:
        """The same analysis, said to be about a part of the video."""
        copied = self.model_copy()
        copied._window = window  # noqa: SLF001 - a copy of itself
        return copied


class VideoScenes(Result):
    """The scenes of one video; `found` counts those that are left out, too."""

    scenes: list[Scene]
    found: int
    result_uri: str = Field("", description="the whole result as JSON")


class VideoTranscript(Result):
    """A page of what is said. `segments` for that format, `content` for every other."""

    format: str
    origin: str
    language: str
    segments: list[Segment] = []
    content: str = ""
    total: int = Field(description="segments on all pages")
    next_cursor: str | None = None
    transcript_uri: str = Field("", description="all pages as one file")


class VideoClip(BaseModel):
    """A file that was cut from a video; `start`, `end` and `duration` are those of the file."""

    source: str
    video_id: str
    start: Seconds
    end: Seconds
    duration: Seconds
    format: str
    mime: str
    size_bytes: int
    width: int | None = Field(None, description="None for sound")
    height: int | None = None
    uri: str
    path: str
    link: str = Field(description="opens the source at that time")
    cached: bool = False
    partial: bool = Field(default=False, description="the file could be read in part only")
    limits: list[str] = []
