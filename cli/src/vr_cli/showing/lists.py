"""Things in a row at a terminal: moments, words that are said, pictures, records, steps."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import visible_line
from vr_kernel.files import URI_PREFIX
from vr_kernel.views import (
    Item,
    Link,
    Moment,
    Moments,
    Pictures,
    Records,
    Step,
    Steps,
    Transcript,
    clock,
    link_words,
    said,
    said_together,
    shown_host,
    step_words,
)

from vr_cli.showing.pen import BOLD, DIM, TIME, Pen

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

MOMENTS, SPOKEN, PICTURES, RECORDS, STEPS, REFERENCES = 10, 4, 8, 20, 20, 10
"""Things of each kind in a summary."""
MOMENT_LINES, SPOKEN_LINES = 3, 12
"""Lines of a moment, and of a paragraph of speech or the text of a lone picture, in a summary."""
LEAST = 8
"""Columns of a title or a fact that say something."""
NARROW = 60
"""Columns below which the facts of a record have two lines."""
KEY_CHARS = 8
"""Characters of a record's key that are shown; more are shown of none."""
_SIGNS = {
    "done": ("✓", "green"), "completed": ("✓", "green"), "succeeded": ("✓", "green"),
    "running": ("▶", TIME), "working": ("▶", TIME), "failed": ("✗", "red"),
    "cancelled": ("✗", "yellow"),
}  # fmt: skip


def _moments(block: Moments, pen: Pen) -> Iterator[RenderableType]:
    shown = block.items[: pen.most(block.items, MOMENTS)]
    if not shown:
        return
    grid = pen.grid(TIME, "")
    for each in shown:
        until = f"-{clock(each.end)}" if pen.full and each.end and each.end > each.start else ""
        time = pen.line(f"{clock(each.start)}{until}", "", each.link)
        grid.add_row(time, _moment(each, pen))
    yield grid
    pen.leave(block.title, len(block.items) - len(shown), "moments")


def _moment(moment: Moment, pen: Pen) -> Text:
    text = pen.cut(pen.line(moment.text), MOMENT_LINES, pen.window.width - 8)
    if moment.quote is None:
        return text
    if pen.full:
        return pen.joined([text, pen.quote(moment.quote)], "\n")
    return pen.joined([text, pen.mark(moment.quote)])


def _transcript(block: Transcript, pen: Pen) -> Iterator[RenderableType]:
    """Speech in paragraphs; each begins with its time and who speaks."""
    every = said_together(block.lines)
    shown = every[: pen.most(every, SPOKEN)]
    if not shown:
        return
    grid, cut = pen.grid(TIME, ""), 0
    for group in shown:
        first = group[0]
        who = pen.line(f"{first.speaker}:", BOLD) if first.speaker else pen.text()
        time = pen.line(clock(first.start), "", first.link)
        words = pen.line(" ".join(line.text for line in group))
        whole = pen.joined([who, words])
        kept = pen.cut(whole, SPOKEN_LINES, pen.window.width - 8)
        cut += kept is not whole
        grid.add_row(time, kept)
    yield grid
    pen.leave(block.title or "transcript", cut + len(every) - len(shown), "paragraphs")


def _pictures(block: Pictures, pen: Pen) -> Iterator[RenderableType]:
    told = [each for each in block.items if each.caption or each.text or each.place != Link()]
    shown = told[: pen.most(told, PICTURES)]
    grid, cut = pen.grid(TIME, ""), 0
    for each in shown:
        words = pen.cut(pen.line(each.caption or each.text), 2, pen.window.width - 8)
        if (pen.full or len(block.items) == 1) and each.caption and each.text:
            text = pen.text(each.text, DIM)
            kept = pen.cut(text, SPOKEN_LINES, pen.window.width - 8)
            cut += kept is not text
            words = pen.joined([words, kept], "\n")
        grid.add_row(pen.place(each.place), words)
    if shown:
        yield grid
    pen.leave(block.title or "pictures", cut + len(block.items) - len(shown), "pictures")


def _records(block: Records, pen: Pen) -> Iterator[RenderableType]:
    shown = block.items[: pen.most(block.items, RECORDS)]
    for each in shown:
        yield from _item(each, pen)
    pen.leave(block.title, len(block.items) - len(shown), "records")
    if block.total > len(block.items):
        yield pen.more(block.total, len(block.items))
    if block.facets:
        yield ""
        yield from (_facet(name, counts, pen) for name, counts in block.facets.items())


def _item(item: Item, pen: Pen) -> Iterator[RenderableType]:
    """A record in three lines: what it is and where, its words, its id and facts; else in four."""
    from rich.padding import Padding

    place, width = item.place, pen.window.width
    where = link_words(Link(start=place.start, end=place.end, page=place.page))
    title, at = pen.line(item.title, BOLD, place.address), pen.line(where, TIME, place.address)
    head, told = pen.joined([title, at]), _facts(item)
    facts = pen.line(" · ".join(told), DIM)
    beside = head.cell_len + 2 + facts.cell_len <= width
    if beside:
        yield pen.joined([head, facts], "  ")
    else:
        room = width - at.cell_len - 1 if at.plain else width
        yield pen.joined([pen.cut(title, 1, room), at]) if room >= LEAST else pen.cut(head, 1)
    if item.text:
        lines = 2 if beside else 1
        yield Padding(pen.cut(pen.line(item.text), lines, width - 2), (0, 0, 0, 2))
    if told and not beside:
        whole = _whole(told, width - 2) if width < NARROW and not pen.full else len(told)
        yield Padding(_fitting(told[:whole], width - 2, pen), (0, 0, 0, 2))
        if rest := pen.line(" · ".join(told[whole:]), DIM):
            yield Padding(pen.cut(rest, 1, width - 2), (0, 0, 0, 2))


def _whole(facts: Sequence[str], width: int) -> int:
    """Count the facts that a line has room for as a whole; it has the first, which is the id."""
    from rich.cells import cell_len

    fitting = [it for it in range(1, len(facts) + 1) if cell_len(" · ".join(facts[:it])) <= width]
    return max(fitting, default=1)


def _fitting(facts: Sequence[str], width: int, pen: Pen) -> Text:
    """The facts for which a line has room; the first, which is the id, is whole in any window."""
    first, *rest = [pen.line(each, DIM) for each in facts]
    shown = first
    for each in rest:
        room = width - shown.cell_len - len(" · ")
        if room < LEAST and not pen.full:
            break
        part = pen.cut(each, 1, room)
        shown = pen.joined([shown, part], " · ")
        if part is not each:
            break
    return shown


def _facts(item: Item) -> list[str]:
    """The id of a record, then short facts, each once."""
    told = [visible_line(said(fact)) for fact in item.facts]
    address = item.place.address
    host = shown_host(address) if address and not address.startswith(URI_PREFIX) else ""
    known = " ".join([item.title, *told])
    return [each for each in [_short_id(item.id), *told, "" if host in known else host] if each]


def _short_id(known: str) -> str:
    """The kind of a record and as much of its key as `vr show` needs."""
    kind, slash, key = known.rpartition("/")
    return f"{kind}{slash}{key[:KEY_CHARS]}"


def _facet(name: str, counts: Any, pen: Pen) -> Text:
    values = ", ".join(f"{value} ({count:,})" for value, count in counts)
    return pen.joined([pen.line(f"{name}:", DIM), pen.line(values)])


def _steps(block: Steps, pen: Pen) -> Iterator[RenderableType]:
    shown = block.items[: pen.most(block.items, STEPS)]
    if not shown:
        return
    grid = pen.grid("", "", gap=1)
    for each in shown:
        sign, style = _SIGNS.get(each.state.lower(), ("·", DIM))
        grid.add_row(pen.text(sign, style), _step(each, pen))
    yield grid
    pen.leave(block.title, len(block.items) - len(shown), "steps")


def _step(step: Step, pen: Pen) -> Text:
    text = pen.line(step_words(step))
    text.stylize(BOLD, 0, len(pen.line(step.name).plain))
    return text


DRAWERS: Mapping[str, Callable[[Any, Pen], Iterator[Any]]] = {
    "Moments": _moments,
    "Transcript": _transcript,
    "Pictures": _pictures,
    "Records": _records,
    "Steps": _steps,
}
"""The function that draws each of these blocks."""
