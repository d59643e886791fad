"""The view of an analysis, of which its page, its report and what a terminal shows are made."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vr_kernel import visible_line
from vr_kernel.views import (
    Block,
    Code,
    Image,
    Line,
    Link,
    Moment,
    Moments,
    Pictures,
    Prose,
    Transcript,
    View,
    clock,
)

from vr_plugin_video.captions.transcripts import Segment
from vr_plugin_video.models import Scene, VideoAnalysis
from vr_plugin_video.text.times import Window
from vr_plugin_video.views.parts import data, divided, facts, joined, listed, quote_of, timed
from vr_plugin_video.views.places import LinkTo, link_to, media, name_of

NOTHING = "Nothing could be read or heard in it."
"""The limit of an analysis that rests on pictures alone."""
MAKERS = {"local": "the local engine", "gemini": "Gemini", "model": "a model"}
ORIGINS = {
    "sidecar": "captions beside the file",
    "embedded": "captions in the file",
    "captions": "captions at YouTube",
    "speech": "speech recognition",
    "model": "a model that listened",
}
_TIME_AT_END = re.compile(r"\s*\([0-9:]+\)$")
_DASH = re.compile(" - ")
_UNTITLED = "(no title)"


def analysis_view(
    analysis: VideoAnalysis,
    window: Window | None = None,
    more: Sequence[Block] = (),
    notes: Sequence[str] = (),
) -> View:
    """Everything that is known of an analysis.

    Args:
        analysis: whole, or shortened for an answer.
        window: the part of the video that it is about.
        more: blocks that come last.
        notes: remarks besides its limits.
    """
    link = link_to(analysis.source)
    told = [
        *media(analysis.source, analysis.duration),
        *_answer(analysis, link),
        *_meeting(analysis),
        *_timeline(analysis, link),
        *_about_it(analysis),
    ]
    slides = pictures("Slides", analysis.slides, link, detail=len(told) > 1)
    said = spoken(analysis.segments, _language(analysis), link, detail=True)
    return View(
        analysis.title or name_of(analysis.source) or "Video",
        [*told, *slides, *said, *more],
        about_line(analysis, window or Window()),
        analysis.source,
        [*notes, *(limit for limit in analysis.limits if limit != NOTHING)],
    )


def about_line(analysis: VideoAnalysis, window: Window) -> list[str]:
    """Length, part, who watched it, and where its words come from."""
    by = f" ({analysis.model})" if analysis.model else ""
    maker = MAKERS.get(analysis.engine, "")
    end = "the end" if window.end is None else clock(window.end)
    said = analysis.transcript
    told = [
        clock(analysis.duration) if analysis.duration else "",
        "" if window.is_whole else f"only {clock(window.start)} to {end}",
        f"watched by {maker}{by}" if maker else "",
        f"words from {ORIGINS.get(said.origin, said.origin)}" if said else "",
    ]
    return [each for each in told if each]


def pictures(title: str, scenes: Sequence[Scene], link: LinkTo, *, detail: bool) -> list[Block]:
    """Slides or scenes: their pictures, titles, texts and times."""
    shown = [
        Image(
            scene.thumbnail_uri,
            scene.title,
            scene.text.removeprefix(scene.title).strip() if scene.title else scene.text,
            Link(link(scene.start), "", scene.start, scene.end),
        )
        for scene in scenes
    ]
    return [Pictures(shown, title=title, detail=detail)] if shown else []


def spoken(
    segments: Sequence[Segment], language: str, link: LinkTo, *, detail: bool
) -> list[Block]:
    """The words that are said, with their times."""
    lines = [Line(s.start, s.end, s.text, s.speaker, link(s.start)) for s in segments]
    return [Transcript(lines, language, title="Transcript", detail=detail)] if lines else []


def _answer(analysis: VideoAnalysis, link: LinkTo) -> Iterator[Block]:
    """The answer that was asked for: the summary and key points, or a result of another form."""
    if NOTHING in analysis.limits:
        yield Prose(NOTHING)
    if analysis.custom:
        shown = data("Result", analysis.custom)
        yield Code(shown.text, shown.language, title=shown.title)
    points = [timed(point) for point in analysis.key_points]
    if not analysis.custom:  # its texts are the summary
        yield from _summary(analysis, [text for _, text in points], link)
    moments = [_moment(start, text, link) for start, text in points if start is not None]
    if moments:
        yield Moments(moments, title="Key points")
    others = [text for start, text in points if start is None]
    yield from listed("More key points" if moments else "Key points", others)


def _summary(analysis: VideoAnalysis, points: Sequence[str], link: LinkTo) -> Iterator[Block]:
    """The summary without its title; lines with times are moments, unless others say the same."""
    first, chunks = divided(analysis.title, analysis.summary)
    if first:
        yield Prose(first, title="Summary")
    titles = {*_titles(analysis), _UNTITLED}
    told = set(points)
    lines = [timed(chunk) for chunk in chunks]
    left = [(start, text) for start, text in lines if not _is_told(text, titles, told)]
    if left:
        moments = [_moment(start or 0.0, visible_line(text), link) for start, text in left]
        yield Moments(moments, title="Outline" if first else "Summary")


def _is_told(text: str, titles: set[str], points: set[str]) -> bool:
    """Check if a line is a title with a key point, which are told elsewhere."""
    line = _TIME_AT_END.sub("", visible_line(text))
    pairs = ((line[: it.start()], line[it.end() :]) for it in _DASH.finditer(line))
    return line in titles or any(title in titles and point in points for title, point in pairs)


def _meeting(analysis: VideoAnalysis) -> Iterator[Block]:
    if notes := analysis.meeting:
        yield from listed("Decisions", notes.decisions)
        yield from listed("Action items", notes.action_items)


def _timeline(analysis: VideoAnalysis, link: LinkTo) -> Iterator[Block]:
    """Chapters and moments; where one repeats the other it is left out."""
    chapters = {(int(c.start), c.title) for c in analysis.chapters}
    moments = {(int(m.seconds), m.description) for m in analysis.timestamps}
    bare = not any(m.quote or m.status for m in analysis.timestamps)
    repeated = bare and moments <= chapters
    if analysis.chapters and (repeated or not chapters <= moments):
        shown = [Moment(c.start, c.title, c.end, link(c.start)) for c in analysis.chapters]
        yield Moments(shown, title="Chapters")
    if analysis.timestamps and not repeated:
        yield Moments(
            [
                Moment(m.seconds, m.description, None, m.link or link(m.seconds), quote_of(m))
                for m in analysis.timestamps
            ],
            title="Moments",
        )


def _about_it(analysis: VideoAnalysis) -> list[Block]:
    titles = _titles(analysis)
    topics = [topic for topic in analysis.topics if topic not in titles]
    present = analysis.meeting.participants if analysis.meeting else []
    return facts(
        [
            ("Participants", joined(present)),
            ("Topics", joined(topics)),
            ("Mood", analysis.sentiment or ""),
        ]
    )


def _titles(analysis: VideoAnalysis) -> set[str]:
    """Titles that the timeline shows."""
    return {
        *(chapter.title for chapter in analysis.chapters),
        *(moment.description for moment in analysis.timestamps),
    }


def _language(analysis: VideoAnalysis) -> str:
    return analysis.transcript.language if analysis.transcript else ""


def _moment(start: float, text: str, link: LinkTo) -> Moment:
    return Moment(start, text, None, link(start))
