"""Quotes looked up in the text of a source; their places are corrected to where they stand."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from math import nan

from vr_kernel import Document, Finding, Locator, Passage, QuoteIndex, Segment, find_in

from vr_plugin_research.results.claims import Citation, Stance

SECONDS = 10.0
"""A quote of a recording is at its place when it begins within so many seconds of it."""
POSITION = 0.5
"""A quote of a text is at its place when it begins in that very part."""
QUOTE_CHARS = 1_000
LEAST_WORDS = 3
"""Words of a quote that is worth looking up; a number counts as two."""
LEAST_LETTERS = 6
PLACE_CHARS = 200
_WORD = re.compile(r"\w+(?:[.,]\d+)*")
_NUMBER = re.compile(r"(?:pages?|pp?|slide|s)?\.?\s*(\d{1,9})", re.IGNORECASE)
_CLOCK = re.compile(r"(?:(\d{1,3}):)?(\d{1,3}):(\d{2})(?:\.\d+)?")
_SECONDS = re.compile(r"(\d{1,7}(?:\.\d+)?)\s*s?(?:econds)?")


@dataclass(frozen=True, slots=True)
class _Track:
    """Parts of a recording that follow each other, and their index."""

    segments: Sequence[Segment]
    index: QuoteIndex


class SourceQuotes:
    """The text of a source, prepared for looking up quotes; making one blocks."""

    def __init__(self, document: Document) -> None:
        self._segments = list(document.segments)
        self._timed = any(each.locator.start is not None for each in self._segments)
        self._tracks = [*_tracks(self._segments)] if self._timed else [_whole(self._segments)]
        self._labels: dict[str, int] = {}
        for at, segment in enumerate(self._segments):
            for name in _names(segment.locator):
                self._labels.setdefault(name, at)

    def check(self, source: int, quote: str, place: str, stance: Stance = "supports") -> Citation:
        """Look up a quote at the place that is claimed, then everywhere.

        Args:
            source: number of the source, for the citation.
            quote: the words.
            place: the claimed one, in words; empty for none.
            stance: of the source to the claim.
        """
        quote, place = quote.strip()[:QUOTE_CHARS], place.strip("[] ")[:PLACE_CHARS]
        base = Citation(source=source, quote=quote, stance=stance)
        if not _says_something(quote):
            return self._told(base, place)
        claimed = self._claimed(place)
        found = self._find(quote, claimed)
        if found.passage is None:
            return self._told(base.model_copy(update={"status": found.verdict}), place)
        segment = self._tracks[found.index].segments[found.passage]
        start = found.place if self._timed else None
        named = self._labels.get(place.casefold())
        inside = named is not None and self._segments[named] is segment
        moved = found.verdict == "moved" and claimed is not None and not inside
        return base.model_copy(
            update={
                # A place that was not told cannot be wrong.
                "status": "moved" if moved else "verified",
                "quote": found.text or quote,
                "place": _label(segment.locator, start),
                "page": segment.locator.page or segment.locator.slide,
                "start": start,
                "link": segment.link,
                "original_place": place if moved else None,
            }
        )

    def _find(self, quote: str, claimed: float | None) -> Finding:
        tolerance = SECONDS if self._timed else POSITION
        return find_in([track.index for track in self._tracks], quote, claimed, tolerance)

    def _told(self, citation: Citation, place: str) -> Citation:
        """The citation with the place that was claimed, as far as the source has it."""
        at = None if self._timed else self._position(place)
        if at is None:
            return citation.model_copy(update={"place": place})
        segment = self._segments[at]
        told = {"place": segment.locator.label, "link": segment.link, "page": segment.locator.page}
        return citation.model_copy(update=told)

    def _position(self, place: str) -> int | None:
        """The number of the part that a place names; None for no place of the source."""
        plain = place.casefold()
        if plain in self._labels:
            return self._labels[plain]
        match = _NUMBER.fullmatch(plain)
        return self._labels.get(match[1]) if match else None

    def _claimed(self, place: str) -> float | None:
        """The claimed place as a number; NaN, which is nowhere, for a page that is not there."""
        if self._timed:
            return seconds_of(place)
        at = self._position(place)
        return nan if at is None and _NUMBER.fullmatch(place.casefold()) else at


def seconds_of(place: str) -> float | None:
    """The seconds that a place names, such as `1:33` or `93 s`; None for none."""
    if clock := _CLOCK.search(place):
        hours, minutes, seconds = clock.groups(default="0")
        return int(hours) * 3600.0 + int(minutes) * 60 + int(seconds)
    told = _SECONDS.fullmatch(place.strip())
    return float(told[1]) if told else None


def _says_something(quote: str) -> bool:
    """True for a quote of a few words; `the` stands everywhere and carries nothing."""
    words = _WORD.findall(quote)
    numbers = any(word[0].isdigit() for word in words)
    # A script without spaces has several words in one run of letters.
    return len(words) + numbers >= LEAST_WORDS or any(
        len(word) >= LEAST_LETTERS and not word.isascii() for word in words
    )


def _tracks(segments: Sequence[Segment]) -> Iterator[_Track]:
    """Parts of a recording that lie side by side in time, such as speech and slides, apart."""
    lanes: list[list[Segment]] = []
    for segment in segments:
        start = segment.locator.start or 0.0
        lane = next((each for each in lanes if _end(each[-1]) <= start + 1e-3), None)
        if lane is None:
            lanes.append(lane := [])
        lane.append(segment)
    for lane in lanes:
        passages = [Passage(it.text, it.locator.start or 0.0, _end(it)) for it in lane]
        yield _Track(lane, QuoteIndex(passages))


def _whole(segments: Sequence[Segment]) -> _Track:
    passages = [Passage(it.text, at, at) for at, it in enumerate(segments)]
    return _Track(segments, QuoteIndex(passages, lasts=True))


def _end(segment: Segment) -> float:
    place = segment.locator
    return place.end if place.end is not None else (place.start or 0.0)


def _names(place: Locator) -> list[str]:
    """The words by which a place may be named."""
    number = place.page or place.slide
    told = [place.label, " > ".join(place.heading), *place.heading[-1:], str(number or "")]
    return [name.casefold() for name in told if name]


def _label(place: Locator, start: float | None) -> str:
    return place.label if start is None else Locator(start=start).label
