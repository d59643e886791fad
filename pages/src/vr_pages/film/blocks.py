"""Media, moments and transcripts."""

from __future__ import annotations

from vr_kernel.views import Media, Moment, Moments, Transcript, said_together

from vr_pages.drawing import Drawing
from vr_pages.film.player import Player
from vr_pages.markup import GAP, NOTHING, Html, Pattern, element, joined

_LINE = Pattern(joined(element("span", GAP, data_start=GAP), " "))
_PARAGRAPH = Pattern(element("p", GAP, " ", GAP, GAP, dir="auto"))


def media(block: Media, drawing: Drawing) -> Html:
    """A player by itself; that of the page's own film stands beside the timeline."""
    del drawing
    return Player.of(block, None).element()


def moments(block: Moments, drawing: Drawing) -> Html:
    """A list of times; on a page with a film it is a lane of the timeline as well."""
    items = [_moment(each, drawing) for each in block.items]
    return element("ol", *items, class_="rows") if items else NOTHING


def _moment(moment: Moment, drawing: Drawing) -> Html:
    quote = drawing.quote(moment.quote) if moment.quote else NOTHING
    words = element("span", moment.text, class_="label", dir="auto")
    return element(
        "li",
        drawing.time(moment.start, moment.link),
        element("div", words, quote),
        data_start=_short(moment.start),
        data_end="" if moment.end is None else _short(moment.end),
    )


def transcript(block: Transcript, drawing: Drawing) -> Html:
    """Speech in paragraphs, in which each line carries its time."""
    groups = said_together(block.lines)
    starts = [_short(line.start) for line in block.lines]
    lines = iter(_LINE.filled(zip(starts, [line.text for line in block.lines], strict=True)))
    shown = _PARAGRAPH.filled(
        (
            drawing.time(group[0].start, group[0].link),
            element("b", f"{group[0].speaker}: ") if group[0].speaker else NOTHING,
            Html("".join([next(lines) for _ in group])),
        )
        for group in groups
    )
    return element("div", *shown, class_="words", lang=block.language) if shown else NOTHING


def _short(seconds: float) -> str:
    return f"{seconds:.2f}".rstrip("0").rstrip(".")
