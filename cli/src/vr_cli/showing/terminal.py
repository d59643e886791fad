"""Draws a view: what it is first, then its blocks, last what was left out and how to see it."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from vr_kernel import visible_line
from vr_kernel.views import Block, View

from vr_cli.showing.addresses import short_path
from vr_cli.showing.blocks import body, line_of
from vr_cli.showing.pen import BOLD, DIM, HEAD, Pen

if TYPE_CHECKING:
    from rich.console import RenderableType


MOST_BLOCKS = 200
"""Blocks in a summary."""


def drawn(view: View, pen: Pen, ways: Sequence[str] = ("--full",)) -> str:
    """A view as lines that fit the window.

    Args:
        view: what is shown.
        pen: draws for the window.
        ways: options that show what is left out.
    """
    console = pen.console()
    for each in _parts(view, pen):
        console.print(each)
    if pen.left:
        console.print()
        console.print(pen.line(f"More: {', '.join(pen.left)}. See {_either(ways)}.", DIM))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # it is a StringIO
    return "\n".join(line.rstrip() for line in text.strip("\n").split("\n"))


def _parts(view: View, pen: Pen) -> Iterator[RenderableType]:
    yield from _head(view, pen)
    before, shown_blocks = False, view.blocks if pen.full else view.blocks[:MOST_BLOCKS]
    for block in shown_blocks:
        if block.detail and not pen.full:
            _name(block, pen)
            continue
        line = line_of(block, pen)
        shown = list(body(block, view, pen, _parts)) if line is None else [line]
        if not shown:
            continue
        if not (before and line is not None):
            yield ""
        before = line is not None
        if block.title and line is None:
            yield pen.line(block.title, HEAD)
        yield from shown
    pen.leave("", len(view.blocks) - len(shown_blocks), "parts")


def _head(view: View, pen: Pen) -> Iterator[RenderableType]:
    source = visible_line(view.source)
    file = short_path(source)
    # Called as its file or folder is, or not at all.
    is_named = view.title in (source, file, file.rpartition(".")[0])
    if view.title != pen.said:
        yield pen.line(file if is_named and file else view.title, BOLD, view.source)
    if source and not is_named:
        yield pen.line(file, DIM, source)
    if view.about:
        yield pen.line(" · ".join(each for each in view.about if each), DIM)


def _name(block: Block, pen: Pen) -> None:
    """Name a block that is shown when it is asked for."""
    noun, things = _things(block)
    pen.leave(block.title or noun or type(block).__name__.lower(), max(len(things), 1), noun)


def _things(block: Block) -> tuple[str, Sequence[object]]:
    for name, noun in _NOUNS.items():
        things = getattr(block, name, None)
        if isinstance(things, str):
            return noun, things.split("\n")
        if isinstance(things, tuple):
            return _ITEMS.get(type(block).__name__, noun), things
    return "", ()


_NOUNS = {
    "rows": "rows", "items": "items", "lines": "lines", "nodes": "concepts", "claims": "claims",
    "text": "lines",
}  # fmt: skip
_ITEMS = {
    "Facts": "facts", "Pictures": "pictures", "Moments": "moments", "Pages": "pages",
    "Claims": "claims", "Steps": "steps", "Records": "records",
}  # fmt: skip


def _either(ways: Sequence[str]) -> str:
    *first, last = ways
    return f"{', '.join(first)} or {last}" if first else last
