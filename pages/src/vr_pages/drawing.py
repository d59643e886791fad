"""The page that blocks are drawn on: what they share, and the elements that all of them need."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import count, repeat
from pathlib import Path
from typing import Protocol

from vr_kernel.views import (
    Cell,
    Link,
    Quote,
    clock,
    is_web,
    link_words,
    quote_sign,
    quote_words,
    said,
    shown_host,
)

from vr_pages.addresses import opened
from vr_pages.album import Album
from vr_pages.film.player import Player
from vr_pages.markup import GAP, NOTHING, Html, Pattern, element, joined

_AWAY = "noopener noreferrer"
_TIME = Pattern(element("a", GAP, class_="at", href=GAP, data_at=True, rel=_AWAY))


class Finder(Protocol):
    """Finds the address under which a browser opens an artifact."""

    def __call__(self, address: str, /) -> str:
        """The address; empty where there is none."""


@dataclass(slots=True)
class Drawing:
    """A page while it is drawn.

    Attributes:
        album: the pictures that fit.
        file: finds the address of an artifact.
        player: that of the page's film, if it has one.
        level: of the next heading.
        title: of the view.
        numbers: of blocks that need an id.
        brought: names of the style sheets and scripts that blocks brought, in order.
        played: sources that a content security policy has to let films load from, in order.
        folder: where the page will lie, if that is known.
    """

    album: Album
    file: Finder
    player: Player | None = None
    level: int = 2
    title: str = ""
    numbers: Iterator[int] = field(default_factory=lambda: count(1))
    brought: dict[str, None] = field(default_factory=dict)
    played: dict[str, None] = field(default_factory=dict)
    folder: Path | None = None

    def time(self, seconds: float, address: str = "") -> Html:
        """A time that opens the film there; `address` is where it opens without a script."""
        player = self.player if self.player and self.player.has(address) else None
        href = opened(address) or (player.link(seconds) if player else "")
        if not href:
            return element("span", clock(seconds), class_="at")
        at = short(seconds) if player else ""
        return element("a", clock(seconds), class_="at", href=href, data_at=at, rel=_AWAY)

    def times(self, places: Sequence[tuple[float, str]]) -> list[Html]:
        """Times of items that say themselves when they begin; else as `time` makes each."""
        player = self.player
        if player is None:
            return [self.time(seconds, address) for seconds, address in places]
        there = [(seconds, address or player.link(seconds)) for seconds, address in places]
        if not all(player.holds(address) for _, address in there):
            return [self.time(seconds, address) for seconds, address in places]
        rows = ((address, clock(seconds)) for seconds, address in there)
        return _TIME.runs(rows, repeat(1, len(places)))

    def link(self, words: str, address: str, *, host: bool = True) -> Html:
        """Words that lead to an address, with its host where they do not name it."""
        href = opened(self.file(address) or address)
        if not href:
            return joined(words)
        anchor = element("a", words, href=href, rel=_AWAY)
        name = shown_host(address) if host and is_web(address) else ""
        if not name or name in words:
            return anchor
        return joined(anchor, " ", element("small", name, class_="host"))

    def place(self, place: Link, *, host: bool = True) -> Html:
        """A place of a source, which opens there."""
        words = link_words(place)
        if not words:
            return NOTHING
        if place.start is not None and self.player and self.player.has(place.address):
            time = self.time(place.start, place.address)
            return joined(place.label, ", ", time) if place.label else time
        return self.link(words, place.address, host=host)

    def around(self, picture: Html, place: Link) -> Html:
        """A picture that opens its place, as the link beside it does."""
        if place.start is None:
            return picture
        player = self.player if self.player and self.player.has(place.address) else None
        href = opened(place.address) or (player.link(place.start) if player else "")
        if not href:
            return picture
        at = short(place.start) if player else ""
        return element("a", picture, href=href, data_at=at, rel=_AWAY, tabindex="-1")

    def cell(self, value: Cell) -> str:
        """A value among facts or in a table; empty for none."""
        if isinstance(value, Link):
            return self.place(value)
        words = said(value)
        return self.link(words, words) if isinstance(value, str) and is_web(words) else words

    def quote(self, quote: Quote) -> Html:
        """A quote with its place and the result of its check."""
        words = element("q", quote.text, dir="auto") if quote.text else NOTHING
        return element("div", words, self.source(quote), class_="quote")

    def source(self, quote: Quote) -> Html:
        """The place of a quote, and the result of its check, on a line."""
        parts = [part for part in (self.place(quote.place), verdict(quote)) if part]
        return element("p", *apart(parts), class_="source") if parts else NOTHING

    def heading(self, text: str) -> Html:
        """A heading of the level that comes next."""
        return element(f"h{min(self.level, 6)}", text, dir="auto")


def short(seconds: float) -> str:
    """A number of seconds for a script."""
    return f"{seconds:.8g}"


def verdict(quote: Quote) -> Html:
    """The result of the check of a quote, as a sign and in words."""
    words = quote_words(quote)
    if not words:
        return NOTHING
    sign = element("i", quote_sign(quote), aria_hidden="true") if quote.mark else NOTHING
    return element("span", sign, words, class_=f"verdict {quote.mark}".strip())


def rest(shown: int, total: int) -> Html:
    """A line about what is not shown; empty when all is."""
    if total <= shown:
        return NOTHING
    are = "is" if total - shown == 1 else "are"
    return element("p", f"{total - shown:,} more {are} not shown here.", class_="more")


def apart(parts: Iterable[Html]) -> Iterator[str]:
    """Parts of a line, with a sign between them."""
    for number, part in enumerate(parts):
        yield " · " if number else ""
        yield part
