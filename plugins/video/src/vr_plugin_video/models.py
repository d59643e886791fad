"""What the video tools return."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal, Self, TypeVar

from pydantic import BaseModel, Field, PlainSerializer

from vr_plugin_video.plain_text import ELLIPSIS
from vr_plugin_video.transcripts import Segment

Engine = Literal["local", "gemini"]
Seconds = Annotated[float, PlainSerializer(lambda value: round(value, 2), return_type=float)]
BRIEF_BYTES = 10_500
"""About 4,000 tokens: results were measured at 2.7 to 3.4 bytes a token."""
FULL_BYTES = 24_000
"""About 9,000 tokens."""
SHORT_TEXT = 300
"""Characters of a slide's text in a result that would be too long."""


class Moment(BaseModel):
    """A time, as `00:47` and in seconds, and what happens then."""

    time: str
    seconds: Seconds
    description: str


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
    """Where the words come from; the words are in `segments` and from video_transcript."""

    origin: str
    language: str
    segments: int


class Result(BaseModel):
    """What every result says about its source and its making."""

    source: str
    video_id: str
    duration: Seconds
    engine: Engine = "local"
    model: str = Field("", description="what recognised speech and text")
    cached: bool = False
    partial: bool = Field(default=False, description="the file could be read in part only")
    limits: list[str] = Field([], description="what could not be done, and what to do about it")


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

    def thumbnails_exist(self) -> bool:
        """Whether no thumbnail was cleaned away since."""
        return all(Path(s.thumbnail_path).is_file() for s in self.slides if s.thumbnail_path)

    def brief(self) -> Self:
        """Without the transcript, short enough for every answer."""
        slides = [slide.model_copy(update={"thumbnail_path": ""}) for slide in self.slides]
        return _fitted(self.model_copy(update={"segments": [], "slides": slides}), BRIEF_BYTES)

    def full(self) -> Self:
        """With as much of the transcript as an answer takes."""
        return _fitted(self, FULL_BYTES)


class VideoScenes(Result):
    """The scenes of one video; `found` counts those that are left out too."""

    scenes: list[Scene]
    found: int
    result_uri: str = Field("", description="the whole result as JSON")

    def fitted(self) -> Self:
        """Short enough for an answer."""
        return _fitted(self, BRIEF_BYTES)


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


_LISTS = ("segments", "slides", "scenes", "timestamps", "chapters", "key_points", "topics")
R = TypeVar("R", bound=Result)


def _fitted(result: R, size: int) -> R:
    """A copy of at most about `size` bytes: the longest lists are cut, and it says so."""
    fitted = result.model_copy(update={"limits": list(result.limits)})
    if _size(fitted) > size:
        _clip_texts(fitted)
    while _size(fitted) > size:
        lists = {name: getattr(fitted, name) for name in _LISTS if hasattr(fitted, name)}
        longest = max(lists, key=lambda name: _size_of(lists[name]))
        items = lists[longest]
        if len(items) <= 1:
            break
        excess = (_size(fitted) - size) / max(1, _size_of(items))
        keep = max(1, min(len(items) - 1, int(len(items) * (1 - excess))))
        setattr(fitted, longest, items[:keep])
    cut = [
        f"{name}: {len(getattr(fitted, name))} of {len(getattr(result, name))}"
        for name in _LISTS
        if len(getattr(fitted, name, ())) < len(getattr(result, name, ()))
    ]
    if cut or _size(result) > size:
        fitted.limits.append(
            f"Shortened ({'; '.join(cut) or 'texts'}); all of it is in result_uri."
        )
    return fitted


def _clip_texts(result: Result) -> None:
    for name in ("slides", "scenes"):
        scenes: list[Scene] = getattr(result, name, [])
        short = [scene.model_copy(update={"text": _clipped(scene.text)}) for scene in scenes]
        if scenes:
            setattr(result, name, short)


def _clipped(text: str) -> str:
    return text if len(text) <= SHORT_TEXT else text[: SHORT_TEXT - 1] + ELLIPSIS


def _size(result: Result) -> int:
    return len(result.model_dump_json().encode())


def _size_of(items: list[Any]) -> int:
    return sum(
        len(i.model_dump_json().encode() if isinstance(i, BaseModel) else i.encode()) for i in items
    )
