"""The parts of a page, as they are read without a script too."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from vr_plugin_video.analyses.report import verdict_of
from vr_plugin_video.captions.transcripts import Segment, paragraphs
from vr_plugin_video.models import MeetingNotes, Moment, Scene, VideoAnalysis
from vr_plugin_video.page.album import Album
from vr_plugin_video.page.markup import Html, element, joined
from vr_plugin_video.text.times import format_time, parse_time

Link = Callable[[float], str]
"""Makes the link that opens the video at a time in seconds."""
_TIME = re.compile(r"\[?((?:[0-9]{1,3}:)?[0-5]?[0-9]:[0-5][0-9])\]?\s+")


def overview(analysis: VideoAnalysis, link: Link) -> Html:
    """Summary, key points and topics."""
    lines = (_linked(text, link) for text in _paragraphs(analysis.summary))
    summary = element("p", *lines, class_="lines", dir="auto", data_kind="summary")
    points = [_linked(point, link) for point in analysis.key_points]
    return joined(
        _section("Summary", summary if analysis.summary else ""),
        _section("Key points", _bullets(points)),
        _meeting(analysis.meeting) if analysis.meeting else "",
        _section("Topics", _bullets([_words(topic) for topic in analysis.topics], "chips")),
    )


def _meeting(notes: MeetingNotes) -> Html:
    return joined(
        _section("Participants", _bullets([_words(name) for name in notes.participants], "chips")),
        _section("Decisions", _bullets([_words(each) for each in notes.decisions])),
        _section("Action items", _bullets([_words(each) for each in notes.action_items])),
    )


def moments(analysis: VideoAnalysis, link: Link) -> Html:
    """Chapters, and timestamps with their quotes and the result of the check.

    Chapters that the timestamps repeat are only on the timeline.
    """
    chapters = [
        _item("chapter", c.start, link, _label(c.title), until=c.end) for c in analysis.chapters
    ]
    timestamps = [_item("moment", m.seconds, link, *_moment(m)) for m in analysis.timestamps]
    told = {(int(m.seconds), m.description) for m in analysis.timestamps}
    twice = all((int(c.start), c.title) in told for c in analysis.chapters)
    return joined(
        _listed("Chapters", chapters, class_="twice" if twice else ""),
        _listed("Moments", timestamps),
    )


def slides(analysis: VideoAnalysis, link: Link, album: Album) -> Html:
    """Slides with their text, and with their pictures as far as these fit."""
    shown = [_slide(slide, link, album) for slide in analysis.slides]
    note = (
        f"{len(album.pictures)} slides have their picture here; {album.left_out} more would have"
        " made this file too large."
    )
    left = element("p", note, class_="soft") if album.left_out else Html()
    return _section("Slides", joined(element("div", *shown, class_="deck"), left) if shown else "")


def transcript(analysis: VideoAnalysis, link: Link) -> Html:
    """Speech in paragraphs; each segment carries its time."""
    return joined(*(_paragraph(group, link) for group in paragraphs(analysis.segments)))


def limits(analysis: VideoAnalysis) -> Html:
    """The section of limits."""
    items = [element("li", text, dir="auto") for text in analysis.limits]
    return _section("Limits", element("ul", *items) if items else "", class_="fixed soft")


def _bullets(texts: Sequence[Html], class_: str = "") -> Html:
    items = [element("li", text, dir="auto", data_kind="point") for text in texts]
    return element("ul", *items, class_=class_) if items else Html()


def _linked(text: str, link: Link) -> Html:
    """A line whose leading time, such as `[00:47]`, is a link."""
    match = _TIME.match(text)
    if not match:
        return _words(text)
    time = _time(parse_time(match[1], "time"), link)
    return joined(time, " ", _words(text[match.end() :]))


def _paragraphs(text: str) -> list[str]:
    """A text split before each line that begins with a time."""
    parts: list[str] = []
    for line in re.split(r"(?<=\n)", text):
        if parts and not _TIME.match(line):
            parts[-1] += line
        else:
            parts.append(line)
    return parts


def _words(text: str) -> Html:
    """Text in which a search marks what it finds."""
    return element("span", text, class_="words")


def _section(title: str, inside: str, class_: str = "") -> Html:
    return element("section", element("h2", title), inside, class_=class_) if inside else Html()


def _listed(title: str, items: Sequence[Html], class_: str = "") -> Html:
    return _section(title, element("ol", *items, class_="rows") if items else "", class_)


def _time(seconds: float, link: Link) -> Html:
    return element("a", format_time(seconds), class_="at", href=link(seconds), data_at=seconds)


def _item(kind: str, start: float, link: Link, *inside: Html, until: float | None = None) -> Html:
    words = element("div", *inside)
    time = _time(start, link)
    return element("li", time, words, data_kind=kind, data_start=start, data_end=until)


def _label(text: str, name: str = "span") -> Html:
    return element(name, text, class_="words label", dir="auto")


def _moment(moment: Moment) -> list[Html]:
    parts = [_label(moment.description)]
    if moment.quote:
        parts.append(element("q", moment.quote, class_="words", dir="auto"))
    if moment.status:
        parts.append(element("small", verdict_of(moment), class_=f"verdict {moment.status}"))
    return parts


def _slide(slide: Scene, link: Link, album: Album) -> Html:
    picture = album.pictures.get(slide.thumbnail_uri)
    text = slide.text.removeprefix(slide.title).strip() if slide.title else slide.text
    title = _label(slide.title, "b") if slide.title else ""
    words = element("p", text, class_="words lines", dir="auto") if text else ""
    shown = element("img", src=picture, alt=slide.title or "Slide", loading="lazy")
    address = link(slide.start)
    return element(
        "figure",
        element("a", shown, href=address, data_at=slide.start, tabindex="-1") if picture else "",
        element("figcaption", _time(slide.start, link), " ", title, words),
        data_kind="slide",
        data_start=slide.start,
        data_end=slide.end,
    )


def _paragraph(group: list[Segment], link: Link) -> Html:
    said = (
        joined(element("span", s.text, class_="words", data_start=s.start, data_end=s.end), " ")
        for s in group
    )
    who = element("b", f"{group[0].speaker}:", class_="words") if group[0].speaker else Html()
    time = _time(group[0].start, link)
    return element("p", time, " ", who, " ", *said, data_kind="said", dir="auto")
