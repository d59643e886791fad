"""Timed text: segments, the formats they are given in, and pages of them."""

from __future__ import annotations

import html
import json
from collections.abc import Callable, Sequence
from typing import Literal

from pydantic import BaseModel, ConfigDict, Field
from vr_kernel import Code, VrError

from vr_plugin_video.text.plain_text import clean
from vr_plugin_video.text.times import format_time

TranscriptFormat = Literal["segments", "text", "srt", "vtt", "md", "json"]
Origin = Literal["sidecar", "embedded", "captions", "speech", "model"]
Link = Callable[[float], str]
"""Makes the link that opens a video at a time in seconds."""
MIME: dict[str, str] = {
    "segments": "application/json",
    "json": "application/json",
    "text": "text/plain",
    "srt": "application/x-subrip",
    "vtt": "text/vtt",
    "md": "text/markdown",
}
BYTES_A_TOKEN = 8 / 3
"""Characters per token of English as JSON, rather too few."""
PARAGRAPH_PAUSE_S = 2.0
PARAGRAPH_CHARS = 600


class Segment(BaseModel):
    """Something said: seconds from the start of the video, the words, and who says them."""

    model_config = ConfigDict(frozen=True)

    start: float
    end: float
    text: str
    speaker: str = Field("", exclude_if=lambda value: not value)


class Transcript(BaseModel):
    """Everything said in a part of a video, and where the words come from."""

    model_config = ConfigDict(frozen=True)

    segments: tuple[Segment, ...]
    origin: Origin
    language: str = Field("", description="ISO 639 code; empty when unknown")
    model: str = Field("", description="the model that listened, empty for captions")
    complete: bool = True
    notes: tuple[str, ...] = ()

    def between(self, start: float, end: float) -> Transcript:
        """The segments that overlap a window in seconds."""
        inside = tuple(s for s in self.segments if s.end > start and s.start < end)
        return self.model_copy(update={"segments": inside})


class Page(BaseModel):
    """Some segments of a transcript; `first` counts from 0, `next_index` None ends it."""

    segments: tuple[Segment, ...]
    first: int
    next_index: int | None


def page_of(segments: Sequence[Segment], first: int, size: int) -> Page:
    """The segments from `first` on that fit into about `size` bytes, one at least.

    No page has more tokens than English text of that size.

    Raises:
        VrError: INVALID_INPUT when `first` is after the last segment.
    """
    from vr_kernel import estimate_tokens

    if first and first >= len(segments):
        raise VrError(
            "The cursor points past the end.",
            Code.INVALID_INPUT,
            category="CURSOR_INVALID",
            hint="Start again without a cursor.",
        )
    used, tokens, index = 0, 0, first
    while index < len(segments):
        text = segments[index].model_dump_json()
        used += len(text.encode()) + 1
        tokens += estimate_tokens(text) + 1
        if (used > size or tokens * BYTES_A_TOKEN > size) and index > first:
            break
        index += 1
    rest = index if index < len(segments) else None
    return Page(segments=tuple(segments[first:index]), first=first, next_index=rest)


def render(
    segments: Sequence[Segment],
    style: TranscriptFormat,
    link: Link | None = None,
) -> str:
    """Segments as text in one of the formats; `segments` and `json` are the same JSON list.

    Args:
        segments: what is said.
        style: the format.
        link: makes the link to a time in seconds, for Markdown.
    """
    if style == "text":
        return "\n".join(named(segments))
    if style == "md":
        return "\n\n".join(
            f"**{_time(group[0].start, link)}** {' '.join(named(group))}"
            for group in paragraphs(segments)
        )
    if style in ("srt", "vtt"):
        return _subtitles(segments, style)
    return json.dumps([segment.model_dump() for segment in segments], ensure_ascii=False)


def named(segments: Sequence[Segment], before: str = "") -> list[str]:
    """The text of each segment, after `Name: ` where the speaker changes.

    Args:
        segments: what is said.
        before: who spoke last.
    """
    texts = []
    for segment in segments:
        changes = segment.speaker and segment.speaker != before
        texts.append(f"{segment.speaker}: {segment.text}" if changes else segment.text)
        before = segment.speaker
    return texts


def paragraphs(segments: Sequence[Segment]) -> list[list[Segment]]:
    """Segments grouped where the speaker pauses or changes, or a paragraph becomes long."""
    groups: list[list[Segment]] = []
    for segment in segments:
        last = groups[-1] if groups else []
        length = sum(len(s.text) for s in last)
        pause = segment.start - last[-1].end if last else PARAGRAPH_PAUSE_S
        long = length + len(segment.text) > PARAGRAPH_CHARS
        if pause >= PARAGRAPH_PAUSE_S or long or last[-1].speaker != segment.speaker:
            groups.append([segment])
        else:
            last.append(segment)
    return groups


def segment_of(start: float, end: float, text: str, speaker: str = "") -> Segment | None:
    """A segment of plain floats and clean text on one line; None when nothing is said."""
    line = " ".join(clean(text).split())
    if not line:
        return None
    first = round(max(0.0, float(start)), 3)
    last = max(first, round(float(end), 3))
    return Segment(start=first, end=last, text=line, speaker=speaker)


def _subtitles(segments: Sequence[Segment], style: str) -> str:
    from pysubs2 import SSAEvent, SSAFile

    file = SSAFile()
    for segment in segments:
        file.append(
            SSAEvent(
                start=round(segment.start * 1000),
                end=round(segment.end * 1000),
                text=_cue(segment, style),
            )
        )
    written: str = file.to_string(style)
    return written


def _cue(segment: Segment, style: str) -> str:
    """The text of a cue, with the name that players show before it."""
    # pysubs2 would take {...} for a style override and drop it.
    speaker, text = (
        part.replace("{", "(").replace("}", ")").replace("\\", "/")
        for part in (segment.speaker, segment.text)
    )
    if style == "srt":
        return f"{speaker}: {text}" if speaker else text
    text = html.escape(text, quote=False)
    return f"<v {html.escape(speaker, quote=False)}>{text}" if speaker else text


def markdown_link(text: str, address: str) -> str:
    """A link in Markdown; parentheses in the address do not end it."""
    return f"[{text}]({address.replace('(', '%28').replace(')', '%29')})"


def _time(seconds: float, link: Link | None) -> str:
    shown = format_time(seconds)
    return markdown_link(shown, link(seconds)) if link else shown
