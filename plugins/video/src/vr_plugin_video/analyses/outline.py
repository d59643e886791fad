"""An outline of a video, made of its own words: titles, lines of slides, and their times."""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field

from vr_plugin_video.captions.transcripts import Segment, paragraphs
from vr_plugin_video.media.info import Chapter
from vr_plugin_video.text.plain_text import one_line
from vr_plugin_video.text.times import format_time
from vr_plugin_video.vision.slides import Slide

TITLE_CHARS = 80
LINE_CHARS = 120
MOST_KEY_POINTS = 12
MOST_TOPICS = 12
MOST_PARTS = 12
MOST_ENTRIES = 30
LEAST_WORDS = 2
NUMBER_WEIGHT = 0.5
SPOKEN_WEIGHT = 1.0
MADE_OF = "outline without a language model"
_UNTITLED = ("the beginning", "the picture changes")
_WORD = re.compile(r"[^\W_]+(?:[.'-][^\W_]+)*")
_STOP = frozenset(
    str.split(
        "a an and are as at be but by can do for from had has have how i if in into is it its me"
        " my no not of on or our so than that the their them then there these they this to up us"
        " was we were what when where which who why will with you your"
    )
)


@dataclass(frozen=True, slots=True)
class Part:
    """A part of a video: a chapter, a slide, or some minutes of speech.

    `times` are the times of its lines, in their order; without them each line has the start.
    """

    start: float
    end: float
    title: str
    lines: tuple[str, ...] = ()
    times: tuple[float, ...] = ()

    def time_of(self, line: str) -> float:
        """The time of a line, in seconds."""
        return dict(zip(self.lines, self.times, strict=False)).get(line, self.start)


@dataclass(frozen=True, slots=True)
class Outline:
    """An outline of a video, made without understanding it."""

    summary: str
    key_points: list[str] = field(default_factory=list)
    timestamps: list[tuple[float, str]] = field(default_factory=list)
    topics: list[str] = field(default_factory=list)


def parts_of(
    chapters: Sequence[Chapter],
    slides: Sequence[Slide],
    segments: Sequence[Segment],
    window: tuple[float, float],
) -> list[Part]:
    """The parts of a window: its chapters, else its slides, else stretches of speech."""
    start, end = window
    inside = [c for c in chapters if c.end > start and c.start < end]
    if len(inside) > 1 or (inside and not slides):
        return [_chapter_part(c, slides, start, end) for c in inside]
    if any(slide.text for slide in slides):
        return _slide_parts(slides)
    if segments:
        return _spoken_parts(segments)
    return [Part(s.start, s.end, "") for s in slides]


def outline(
    title: str, parts: Sequence[Part], segments: Sequence[Segment], length: float
) -> Outline:
    """Titles with times, and the most telling lines; `length` in seconds, infinite if unknown."""
    rare = Counter(word for part in parts for line in part.lines for word in set(words(line)))
    told = [(part, _ranked(part, segments, rare)) for part in parts]
    entries = [_entry(part, lines[:1]) for part, lines in told]
    lasting = f"{format_time(length)} in " if math.isfinite(length) else ""
    count = f"{len(parts)} part{'s' * (len(parts) != 1)}"
    head = f"{title}: {lasting}{count} ({MADE_OF})."
    titled = [part for part in parts if part.title]
    if len(entries) > MOST_ENTRIES:
        entries[MOST_ENTRIES:] = [f"and {len(entries) - MOST_ENTRIES} more"]
    return Outline(
        summary="\n".join([head, *entries]) if titled else head,
        key_points=_key_points(told),
        timestamps=[(part.start, part.title or _UNTITLED[part.start > 0]) for part in parts],
        topics=list(dict.fromkeys(part.title for part in titled))[:MOST_TOPICS],
    )


def words(text: str) -> list[str]:
    """The words of a text that carry meaning, in lower case."""
    return [word for word in _WORD.findall(text.lower()) if word not in _STOP]


def _chapter_part(chapter: Chapter, slides: Sequence[Slide], start: float, end: float) -> Part:
    shown = [s for s in slides if s.end > chapter.start and s.start < chapter.end]
    within = [s for s in shown if chapter.start <= (s.start + s.end) / 2 < chapter.end]
    title = one_line(chapter.title, TITLE_CHARS)
    begin = max(start, chapter.start)
    own: dict[str, float] = {}
    for slide in within:
        for line in (slide.title, *slide.lines):
            if line != title:
                own.setdefault(line, max(begin, slide.start))
    return Part(begin, min(end, chapter.end), title, tuple(own), tuple(own.values()))


def _slide_parts(slides: Sequence[Slide]) -> list[Part]:
    """Slides; consecutive ones with one title are joined, as they only add points."""
    parts: list[Part] = []
    for slide in slides:
        title = one_line(slide.title, TITLE_CHARS)
        last = parts.pop() if parts and parts[-1].title == title else None
        start = last.start if last else slide.start
        lines = dict.fromkeys(slide.lines, slide.start)
        if last:  # a line that was there before keeps its time
            known = dict(zip(last.lines, last.times, strict=True))
            lines = {**known, **{line: at for line, at in lines.items() if line not in known}}
        parts.append(Part(start, slide.end, title, tuple(lines), tuple(lines.values())))
    return parts


def _spoken_parts(segments: Sequence[Segment]) -> list[Part]:
    groups = paragraphs(segments)
    step = -(-len(groups) // MOST_PARTS)
    joined = [
        [s for group in groups[at : at + step] for s in group] for at in range(0, len(groups), step)
    ]
    return [
        Part(group[0].start, group[-1].end, one_line(group[0].text, TITLE_CHARS))
        for group in joined
    ]


def _ranked(part: Part, segments: Sequence[Segment], rare: Counter[str]) -> list[str]:
    """A part's lines, the most telling first: with rare words, numbers, or spoken words."""
    during = [s.text for s in segments if s.end > part.start and s.start < part.end]
    spoken = set(words(" ".join(during)))

    def weight(line: str) -> float:
        found = set(words(line))
        numbers = sum(any(c.isdigit() for c in word) for word in found)
        shared = len(found & spoken)
        return sum(1 / rare[w] for w in found) + NUMBER_WEIGHT * numbers + SPOKEN_WEIGHT * shared

    telling = [line for line in part.lines if len(words(line)) >= LEAST_WORDS]
    return sorted(telling, key=weight, reverse=True)


def _entry(part: Part, lines: Sequence[str]) -> str:
    start, said = format_time(part.start), ""
    for line in lines:
        at = format_time(part.time_of(line))
        said += f" - {one_line(line, LINE_CHARS)}" + (f" ({at})" if at != start else "")
    return f"{start} {part.title or '(no title)'}{said}"


def _key_points(told: Sequence[tuple[Part, list[str]]]) -> list[str]:
    """The best line of every part, then second-best ones while there is room, in order."""
    chosen: list[tuple[float, int, str]] = []
    deepest = max((len(lines) for _, lines in told), default=0)
    for rank in range(deepest):
        for part, lines in told:
            if rank < len(lines) and len(chosen) < MOST_KEY_POINTS:
                seconds = part.time_of(lines[rank])
                text = f"[{format_time(seconds)}] {one_line(lines[rank], LINE_CHARS)}"
                chosen.append((seconds, rank, text))
    return [text for _, _, text in sorted(chosen)]
