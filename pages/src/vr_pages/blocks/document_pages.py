"""Pages of a document: each is folded, and opens with its picture beside its text."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from vr_kernel.views import DocumentPage, Pages

from vr_pages.blocks.pictures import left_out, picture
from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element, joined

FEW = 3
"""Pages that are open from the beginning; of more, each is opened when it is asked for."""
BEGINNING_CHARS = 100
"""Characters of a page's text beside its number."""
_LINE_END = re.compile(r"(?<=[^\n]{60})\n(?=(\w))")
"""The end of a line that was as wide as its page."""


def pages(block: Pages, drawing: Drawing) -> Html:
    """Pages, which an address with `#page-7` opens."""
    is_open = len(block.items) <= FEW
    shown = [_page(page, drawing, is_open=is_open) for page in block.items]
    return joined(*shown, left_out([page.image for page in block.items], drawing))


def _page(page: DocumentPage, drawing: Drawing, *, is_open: bool) -> Html:
    name = f"Page {page.number}"
    shown = picture(page.image, name, drawing)
    spans = list(_spans(page))
    lost = [passage for passage, span in spans if span is None]
    missing = [element("p", "Marked: ", element("mark", it, dir="auto")) for it in lost]
    text = _text(_flowing(page.text), sorted(span for _, span in spans if span))
    inside = element(
        "div",
        shown,
        element("div", text, *missing),
        class_="leaf" if shown else "leaf plain",
        id=_anchor(page, drawing),
        data_page=page.number,
    )
    summary = element("summary", drawing.heading(name), *_beside(page))
    return element("details", summary, inside, class_="sheet unit", open=is_open)


def _beside(page: DocumentPage) -> Iterator[str]:
    """Tell the number of marked passages and the beginning of the text."""
    if count := len(page.marked):
        yield " "
        yield element("span", f"{count} marked", class_="chip")
    if beginning := " ".join(page.text[: 4 * BEGINNING_CHARS].split())[:BEGINNING_CHARS]:
        yield " "
        yield element("small", beginning, class_="told", dir="auto")


def _anchor(page: DocumentPage, drawing: Drawing) -> str:
    """The id of a page; empty where another page of that number has it."""
    if page.number in drawing.album.pages:
        return ""
    drawing.album.pages.add(page.number)
    return f"page-{page.number}"


def _spans(page: DocumentPage) -> Iterator[tuple[str, tuple[int, int] | None]]:
    """Each passage that is to be marked, and its place in the text, whatever spaces it has."""
    for passage in page.marked:
        pattern = r"\s+".join(map(re.escape, passage.split()))
        found = re.search(pattern, page.text) if pattern else None
        yield passage, found.span() if found else None


def _flowing(text: str) -> str:
    """The text without the ends of lines within sentences; each sign stays at its place."""
    return _LINE_END.sub(lambda found: " " if found[1].islower() else "\n", text)


def _text(text: str, spans: Sequence[tuple[int, int]]) -> Html:
    parts: list[str] = []
    at = 0
    for start, end in spans:
        if end > at:
            begin = max(start, at)
            parts += [text[at:begin], element("mark", text[begin:end])]
            at = end
    return element("p", *parts, text[at:], class_="lines", dir="auto") if text else NOTHING
