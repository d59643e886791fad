"""Pictures side by side, and pages of documents."""

from __future__ import annotations

import re

from vr_kernel.views import DocumentPage, Image, Pages, Pictures

from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element, joined


def pictures(block: Pictures, drawing: Drawing) -> Html:
    """Pictures with their captions and texts."""
    shown = [_figure(item, drawing) for item in block.items]
    if not shown:
        return NOTHING
    left = sum(item.image in drawing.album.left_out for item in block.items)
    return joined(element("div", *shown, class_="deck"), _left_out(left))


def _figure(item: Image, drawing: Drawing) -> Html:
    caption = element("b", item.caption, class_="label", dir="auto") if item.caption else NOTHING
    words = element("p", item.text, class_="lines", dir="auto") if item.text else NOTHING
    place = drawing.place(item.place)
    shown = _picture(item.image, item.caption or "Picture", drawing)
    told = (place, " " if place and caption else NOTHING, caption, words)
    return element(
        "figure",
        drawing.around(shown, item.place) if shown else NOTHING,
        element("figcaption", *told) if any(told) else NOTHING,
        data_start=item.place.start,
        data_end=item.place.end,
    )


def _picture(image: str | bytes, words: str, drawing: Drawing) -> Html:
    address = drawing.album.pictures.get(image)
    return element("img", src=address, alt=words, loading="lazy") if address else NOTHING


def _left_out(count: int) -> Html:
    if not count:
        return NOTHING
    words = "1 picture is" if count == 1 else f"{count} pictures are"
    said = f"{words} not here; with more this file would be too large."
    return element("p", said, class_="more")


def pages(block: Pages, drawing: Drawing) -> Html:
    """Pages of a document: the picture, and the text with its marked passages."""
    shown = [_page(page, drawing) for page in block.items]
    left = sum(page.image in drawing.album.left_out for page in block.items)
    return joined(*shown, _left_out(left))


def _page(page: DocumentPage, drawing: Drawing) -> Html:
    name = f"Page {page.number}"
    heading = drawing.heading(name)
    shown = _picture(page.image, name, drawing)
    words, found = _marked(page)
    lost = [passage for passage in page.marked if passage not in found]
    missing = [element("p", "Marked: ", element("mark", it, dir="auto")) for it in lost]
    text = element("div", heading, words, *missing)
    return element("div", shown, text, class_="sheet" if shown else "sheet plain")


def _marked(page: DocumentPage) -> tuple[Html, set[str]]:
    """The text of a page with its marked passages, and those of them that are there."""
    found: set[str] = set()
    patterns = {each: r"\s+".join(map(re.escape, each.split())) for each in page.marked}
    spans: list[tuple[int, int]] = []
    for passage, pattern in patterns.items():
        if pattern and (match := re.search(pattern, page.text)):
            found.add(passage)
            spans.append(match.span())
    parts: list[str] = []
    at = 0
    for start, end in sorted(spans):
        if end > at:
            begin = max(start, at)
            parts += [page.text[at:begin], element("mark", page.text[begin:end])]
            at = end
    parts.append(page.text[at:])
    return element("p", *parts, class_="lines", dir="auto") if page.text else NOTHING, found
