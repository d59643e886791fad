"""Pictures side by side."""

from __future__ import annotations

from collections.abc import Sequence

from vr_kernel.views import Image, Pictures

from vr_pages.drawing import Drawing
from vr_pages.markup import NOTHING, Html, element, joined


def pictures(block: Pictures, drawing: Drawing) -> Html:
    """Pictures with their captions and texts."""
    shown = [_figure(item, drawing) for item in block.items]
    if not shown:
        return NOTHING
    left = left_out([item.image for item in block.items], drawing)
    return joined(element("div", *shown, class_="deck"), left)


def _figure(item: Image, drawing: Drawing) -> Html:
    caption = element("b", item.caption, class_="label", dir="auto") if item.caption else NOTHING
    words = element("p", item.text, class_="lines", dir="auto") if item.text else NOTHING
    place = drawing.place(item.place)
    shown = picture(item.image, item.caption or "Picture", drawing)
    told = (place, " " if place and caption else NOTHING, caption, words)
    return element(
        "figure",
        drawing.around(shown, item.place) if shown else NOTHING,
        element("figcaption", *told) if any(told) else NOTHING,
        data_start=item.place.start,
        data_end=item.place.end,
    )


def picture(image: str | bytes, words: str, drawing: Drawing) -> Html:
    """A picture, if it is here, with the words for those who cannot see it."""
    address = drawing.album.pictures.get(image)
    return element("img", src=address, alt=words, loading="lazy") if address else NOTHING


def left_out(images: Sequence[str | bytes], drawing: Drawing) -> Html:
    """A line about the pictures that did not fit."""
    count = sum(image in drawing.album.left_out for image in images)
    if not count:
        return NOTHING
    words = "1 picture is" if count == 1 else f"{count} pictures are"
    said = f"{words} not here; with more this file would be too large."
    return element("p", said, class_="more")
