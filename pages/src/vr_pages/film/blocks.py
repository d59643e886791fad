"""Media, moments and transcripts."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise

from vr_kernel.views import Line, Media, Moments, Transcript, said_together

from vr_pages.drawing import Drawing, short
from vr_pages.film.player import Player
from vr_pages.markup import GAP, NOTHING, Html, Pattern, element, joined

_PARAGRAPH = Pattern(element("p", GAP, GAP, " ", GAP, dir="auto"))
_WORDS = element("span", GAP, class_="label", dir="auto")
_MOMENT = Pattern(
    element("li", GAP, element("div", _WORDS, GAP), data_start=GAP, data_end=GAP),
)


def media(block: Media, drawing: Drawing) -> Html:
    """A player by itself; that of the page's own film stands beside the timeline."""
    player = Player.of(block, drawing.folder)
    drawing.played |= dict.fromkeys(player.policy)
    return player.element()


def moments(block: Moments, drawing: Drawing) -> Html:
    """A list of times; on a page with a film it is a lane of the timeline as well."""
    times = drawing.times([(each.start, each.link) for each in block.items])
    quotes = [drawing.quote(each.quote) if each.quote else NOTHING for each in block.items]
    rows = (
        (
            short(each.start),
            short(each.start if each.end is None else each.end),
            time,
            each.text,
            quote,
        )
        for each, time, quote in zip(block.items, times, quotes, strict=True)
    )
    shown = _MOMENT.rows(rows)
    return element("ol", shown, class_="rows") if shown else NOTHING


def transcript(block: Transcript, drawing: Drawing) -> Html:
    """Speech in paragraphs, and the times of their lines, which the script makes elements of."""
    groups = said_together(block.lines)
    words = ["\n".join([line.text.replace("\n", " ") for line in group]) for group in groups]
    times = drawing.times([(group[0].start, group[0].link) for group in groups])
    speakers = [_speaker(group[0].speaker) for group in groups]
    shown = _PARAGRAPH.rows(zip(times, speakers, words, strict=True))
    if not shown:
        return NOTHING
    starts = _starts(block.lines)
    return element("div", shown, class_="words", lang=block.language, data_starts=starts)


def _starts(lines: Sequence[Line]) -> str:
    """Tenths of a second at which lines begin, each counted from the one before; this is short."""
    tenths = [int(line.start * 10) for line in lines]
    return " ".join([str(there - before) for before, there in pairwise([0, *tenths])])


def _speaker(name: str) -> Html:
    return joined(" ", element("b", f"{name}:")) if name else NOTHING
