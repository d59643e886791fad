"""Quotes of a document: each looked up, and its place corrected to where it stands."""

from __future__ import annotations

import re
from collections.abc import Sequence

from vr_kernel import Document, Locator, Passage, QuoteIndex, Segment, visible_line

from vr_plugin_content.analyses.prompt import ReadPoint
from vr_plugin_content.results.analysis import KeyPoint

TOLERANCE = 0.5
"""A quote is at its place when it begins in that very part of the document."""
QUOTE_CHARS = 600
POINT_CHARS = 1_000
_NUMBER = re.compile(r"(?:pages?|pp?|slide|s)?\.?\s*(\d{1,9})", re.IGNORECASE)


class DocumentQuotes:
    """The text of a document, prepared for looking up quotes; making one blocks."""

    def __init__(self, document: Document) -> None:
        self._segments = list(document.segments)
        passages = [Passage(it.text, at, at) for at, it in enumerate(self._segments)]
        self._index = QuoteIndex(passages, lasts=True)
        self._labels: dict[str, int] = {}
        for at, segment in enumerate(self._segments):
            for name in _names(segment.locator):
                self._labels.setdefault(name, at)

    def check(self, point: ReadPoint) -> KeyPoint:
        """Return a point with what became of its quote."""
        text, quote = visible_line(point.text, POINT_CHARS), visible_line(point.quote, QUOTE_CHARS)
        claimed = self._position(point.place)
        place = visible_line(point.place.strip("[] "), 200)
        if not quote:
            return KeyPoint(text=text, status="unchecked", **self._told(claimed, place))
        found = self._index.find(quote, claimed, TOLERANCE)
        if found.passage is None:
            status = found.verdict
            return KeyPoint(text=text, quote=quote, status=status, **self._told(claimed, place))
        at = self._segments[found.passage]
        return KeyPoint(
            text=text,
            quote=found.text or quote,
            status=found.verdict,
            place=at.locator.label,
            page=_page(at.locator),
            link=at.link,
            original_place=place if found.verdict == "moved" and place else None,
        )

    def _told(self, claimed: int | None, place: str) -> dict[str, object]:
        """The place that a model named, when the document has it."""
        if claimed is None:
            return {"place": place}
        at: Segment = self._segments[claimed]
        return {"place": at.locator.label, "page": _page(at.locator), "link": at.link}

    def _position(self, place: str) -> int | None:
        """The number of the part that a place names; None for no place of the document."""
        plain = place.strip("[] ").casefold()
        if plain in self._labels:
            return self._labels[plain]
        match = _NUMBER.fullmatch(plain)
        return self._labels.get(match[1]) if match else None


def checked(document: Document, points: Sequence[ReadPoint]) -> list[KeyPoint]:
    """Look up the quotes of all points; blocks."""
    quotes = DocumentQuotes(document)
    return [quotes.check(point) for point in points if point.text.strip()]


def _names(place: Locator) -> list[str]:
    """The words by which a model may name a place."""
    number = place.page or place.slide
    told = [place.label, " > ".join(place.heading), *place.heading[-1:], str(number or "")]
    return [name.casefold() for name in told if name]


def _page(place: Locator) -> int | None:
    return place.page or place.slide
