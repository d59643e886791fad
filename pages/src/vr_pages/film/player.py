"""The player of a film in a page, and the addresses that it needs."""

from __future__ import annotations

import mimetypes
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from urllib.parse import quote, urlsplit
from urllib.request import url2pathname

from vr_kernel.views import Media, is_web, shown_host

from vr_pages.addresses import opened, stem
from vr_pages.markup import Html, element, joined

_PLAYED = ("video/", "audio/")


@dataclass(frozen=True, slots=True)
class Player:
    """A player; what is shown on a page of the web has none, as its player needs the network.

    Args:
        media: what is played.
        home: the address of the media itself.
        addresses: where the media may be, the likeliest first.
        sources: addresses of the same film, without a time.
    """

    media: Media
    home: str
    addresses: tuple[str, ...]
    sources: frozenset[str]

    @classmethod
    def of(cls, media: Media, folder: Path | None, source: str = "") -> Player:
        """The player in a page that will lie in `folder`.

        A file is looked for where it is now, then beside the page, so that both can be moved
        together. A film on the web is loaded when it is played, not before.

        Args:
            source: another address of the film, such as the page that it comes from.
        """
        home = opened(media.source)
        sources = frozenset(stem(each) for each in (media.source, source) if opened(each))
        return cls(media, home, tuple(_addresses(home, folder)), sources)

    @property
    def policy(self) -> tuple[str, ...]:
        """The sources that a content security policy has to let it load from."""
        if not self.addresses:
            return ()
        return ("http:", "https:") if is_web(self.home) else ("file:", "blob:")

    def has(self, address: str) -> bool:
        """Return True when an address leads into this film; none at all does, too."""
        return (
            not address
            or address.partition("#")[0] in self.sources
            or stem(address) in self.sources
        )

    def holds(self, address: str) -> bool:
        """Return True for a time of this film that certainly opens there; quick."""
        return bool(self.home) and address.partition("#")[0] == self.home

    def link(self, seconds: float) -> str:
        """The address of the film at a time."""
        base = self.home.partition("#")[0]
        return f"{base}#t={max(int(seconds), 0)}" if base and self.addresses else self.home

    def element(self) -> Html:
        """The element that plays, and the message for when it cannot."""
        if not self.addresses:
            said = f"Watch it at {shown_host(self.home)}" if self.home else self.media.source
            shown = element("a", said, href=self.home, rel="noopener noreferrer")
            return element("p", shown if self.home else said, class_="elsewhere")
        ahead = "none" if is_web(self.home) else "metadata"
        sources = (element("source", src=address) for address in self.addresses)
        label = self.media.title or ("Film" if self.media.kind == "video" else "Recording")
        player = element(
            self.media.kind,
            *sources,
            controls=True,
            preload=ahead,
            aria_label=label,
            data_begin=self.media.start,
        )
        return joined(player, self._lost())

    def _lost(self) -> Html:
        why = "The media cannot be played here: it is not there any more, or of a kind that this"
        alone = element("a", "Open it by itself.", href=self.home, rel="noopener noreferrer")
        return element("p", f"{why} browser does not know. ", alone, class_="lost", hidden=True)


def _addresses(home: str, folder: Path | None) -> Iterator[str]:
    if is_web(home):
        kind = mimetypes.guess_type(urlsplit(home).path)[0] or ""
        if kind.startswith(_PLAYED):
            yield home
    elif home:
        path = Path(url2pathname(urlsplit(home).path))
        here = folder.absolute() if folder else None
        if here and path.is_relative_to(here):
            yield quote(path.relative_to(here).as_posix())
            return
        yield home
        yield quote(path.name)
