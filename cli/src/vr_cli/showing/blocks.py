"""Blocks as lines of a terminal, each by its own kind."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from vr_kernel import visible
from vr_kernel.files import URI_PREFIX
from vr_kernel.text import spelled_json
from vr_kernel.views import (
    Action,
    Block,
    Code,
    Compare,
    DocumentPage,
    File,
    Media,
    Pages,
    Prose,
    Span,
    View,
    clock,
    is_web,
    paragraphs,
)

from vr_cli.showing import evidence, lists, tables
from vr_cli.showing.pen import BOLD, DIM, HEAD, LINE_CHARS, SUMMARY_CHARS, TIME, Pen
from vr_cli.showing.window import WIDEST_TEXT

if TYPE_CHECKING:
    from rich.console import RenderableType
    from rich.text import Text

Drawn = Iterator["RenderableType"]
Draw = Callable[[View, Pen], Drawn]
DATA = (".json", ".txt")
"""Files beside a result, instead of which `-o` writes the result itself."""
PROSE_LINES, CODE_LINES, PAGES = 12, 20, 2
"""Lines of running text, lines of code and pages in a summary."""
SIDE_BY_SIDE = 100
"""Columns from which on two views stand beside each other."""


def body(block: Block, view: View, pen: Pen, draw: Draw) -> Drawn:
    """A block without its title; nothing when it has nothing to show.

    Args:
        block: to be shown.
        view: that it is part of.
        pen: draws for the window.
        draw: draws a view in a block.
    """
    if isinstance(block, Compare):
        return _compare(block, pen, draw)
    if isinstance(block, Media):
        return _media(block, view, pen)
    name = type(block).__name__
    drawer = next((it[name] for it in (_OWN, *_ROOMS) if name in it), None)
    return drawer(block, pen) if drawer else iter(())


def _prose(block: Prose, pen: Pen) -> Drawn:
    if visible(block.text).strip():
        text = block.text if pen.full else block.text[:SUMMARY_CHARS]
        title, counted = block.title or "text", len(text) == len(block.text)
        yield pen.clipped(list(prose(text, pen)), PROSE_LINES, title, counted=counted)
    quotes = list(enumerate(block.references, 1))
    shown = quotes[: pen.most(quotes, lists.REFERENCES)]
    if not shown:
        return
    grid = pen.grid(DIM, "", gap=1)
    for number, quote in shown:
        grid.add_row(pen.text(f"[{number}]"), pen.quote(quote, lines=2))
    yield ""
    yield grid
    pen.leave("", len(quotes) - len(shown), "references")


def prose(text: str, pen: Pen) -> Drawn:
    """The paragraphs of a text."""
    from rich.padding import Padding

    before = ""
    for each in paragraphs(text):
        if before and not (each.form == before and before in ("bullet", "number")):
            yield ""
        before = each.form
        if each.form == "code":
            yield Padding(pen.text(each.text, DIM), (0, 0, 0, 2))
            continue
        shown = pen.joined((_span(span, pen) for span in each.spans), "")
        if each.form in ("bullet", "number"):
            grid = pen.grid(DIM, "", gap=1)
            grid.add_row(pen.text(each.mark if each.form == "number" else "•"), shown)
            yield Padding(grid, (0, 0, 0, 2 * min(each.level, 4)))
        elif each.form == "quote":
            yield Padding(shown, (0, 0, 0, 2), style=DIM)
        else:
            if each.form == "heading":
                shown.stylize(BOLD)
            yield shown


def _span(span: Span, pen: Pen) -> Text:
    styles = {"strong": BOLD, "emphasis": "italic", "code": TIME, "reference": DIM}
    return pen.text(span.text, styles.get(span.style, ""), span.link)


def _code(block: Code, pen: Pen) -> Drawn:
    lines = pen.words(block.text).strip("\n").split("\n")
    count = len(lines) if pen.full or len(lines) <= CODE_LINES + 2 else CODE_LINES
    if "".join(lines).strip():
        yield pen.text("\n".join(lines[:count]))
        pen.leave(block.title or "text", len(lines) - count, "lines")


def _media(block: Media, view: View, pen: Pen) -> Drawn:
    """A film, unless the head of the view says it already."""
    length = clock(block.duration) if block.duration else ""
    known = block.source == view.source
    if known and (not length or any(length in each for each in view.about)):
        return
    shown = pen.text() if known else pen.line(block.source, "", block.source)
    yield pen.joined([pen.line(length, TIME), shown])


def line_of(block: Block, pen: Pen) -> Text | None:
    """A block that is one line, with its title; None for any other."""
    if isinstance(block, File):
        shown = _file(block, pen)
    elif isinstance(block, Action):
        shown = pen.command(_command(block))
        if len(shown) > LINE_CHARS and not pen.full:  # the beginning of one does other things
            pen.leave(block.title or "command", 1, "")
            return None
    else:
        return None
    return pen.joined([pen.line(f"{block.title}:" if block.title else "", HEAD), shown])


def _file(block: File, pen: Pen) -> Text:
    if pen.path_of(block.link) is None and block.size is None and not is_web(block.link):
        return pen.line("the file is not there any more", DIM)
    if block.link.startswith(URI_PREFIX) and not pen.full:
        keeps = pen.keeps and not block.link.lower().endswith(DATA)
        keep = pen.line("-o FILE keeps it", DIM) if keeps else pen.text()
        return pen.joined([pen.file(block.link, block.size), keep], ", ")
    return pen.file(block.link, block.size)


def _command(block: Action) -> list[str]:
    domain, _, verb = block.tool.partition("_")
    words = ["vr", domain, verb.replace("_", "-")]
    for name, value in block.arguments.items():
        flag = name.replace("_", "-")
        if isinstance(value, bool):
            words.append(f"--{flag}" if value else f"--no-{flag}")
        elif value is not None:
            given = value if isinstance(value, str) else spelled_json(value)
            words += [f"--{flag}", given]
    return [word for word in words if word]


def _pages(block: Pages, pen: Pen) -> Drawn:
    pages = block.items[: pen.most(block.items, PAGES)]
    for number, page in enumerate(pages):
        if number:
            yield ""
        yield pen.line(f"Page {page.number}", TIME)
        yield pen.clipped([_marked(page, pen)], PROSE_LINES, f"page {page.number}")
    pen.leave("", len(block.items) - len(pages), "pages")


def _marked(page: DocumentPage, pen: Pen) -> Text:
    text = pen.text(page.text.strip())
    for passage in page.marked:
        words = pen.words(passage)
        at = text.plain.find(words) if words else -1
        if at >= 0:
            text.stylize("bold yellow", at, at + len(words))
    return text


def _compare(block: Compare, pen: Pen, draw: Draw) -> Drawn:
    from rich.console import Group
    from rich.table import Table

    if pen.window.width < SIDE_BY_SIDE:
        yield from draw(block.left, pen)
        yield ""
        yield from draw(block.right, pen)
        return
    half = pen.beside((min(pen.window.width, 2 * WIDEST_TEXT) - 4) // 2)
    grid = Table.grid(padding=(0, 4, 0, 0))
    for _ in range(2):
        grid.add_column(width=half.window.width)
    grid.add_row(Group(*draw(block.left, half)), Group(*draw(block.right, half)))
    yield grid


_OWN: Mapping[str, Callable[[Any, Pen], Drawn]] = {
    "Prose": _prose,
    "Code": _code,
    "Pages": _pages,
}
_ROOMS = (lists.DRAWERS, tables.DRAWERS, evidence.DRAWERS)
