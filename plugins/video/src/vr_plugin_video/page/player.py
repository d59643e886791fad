"""The player of a video in a page, and the URLs that it needs."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from urllib.parse import quote, urlsplit

from vr_plugin_video.media.formats import AUDIO_EXTENSIONS
from vr_plugin_video.page.markup import Html, element, joined
from vr_plugin_video.sources import Source


@dataclass(frozen=True, slots=True)
class Player:
    """A player; a video at YouTube has none, as YouTube's player needs the network.

    Args:
        addresses: where the media may be, the likeliest first.
        home: the address of the video itself.
        policy: what a content security policy lets it load.
        ahead: what it loads before it plays.
    """

    source: Source
    addresses: tuple[str, ...]
    home: str
    policy: str = ""
    ahead: str = "none"

    @classmethod
    def of(cls, source: Source, folder: Path) -> Player:
        """The player of a source in a page that will lie in `folder`.

        A file is looked for where it is now, then beside the page, so that both can be moved
        together. A video on the web is loaded when it is played, not before.
        """
        if source.at_youtube:
            return cls(source, (), source.url)
        if "://" in source.url:
            return cls(source, (source.url,), source.url, "http: https:")
        path, home = source.path, source.path.as_uri()
        if path.is_relative_to(folder):
            addresses: tuple[str, ...] = (quote(path.relative_to(folder).as_posix()),)
        else:
            addresses = (home, quote(path.name))
        return cls(source, addresses, home, "file: blob:", "metadata")

    def element(self) -> Html:
        """The element that plays, and the message for when it cannot."""
        if not self.addresses:
            return element("p", element("a", "Watch it at YouTube", href=self.home))
        suffix = PurePosixPath(urlsplit(self.home).path).suffix.lower()
        kind = "audio" if suffix.removeprefix(".") in AUDIO_EXTENSIONS else "video"
        sources = (element("source", src=address) for address in self.addresses)
        why = "The media cannot be played here: it is not there any more, or of a kind that this"
        lost = element(
            "p",
            f"{why} browser does not know. ",
            element("a", "Open it by itself.", href=self.home),
            id="lost",
            hidden=True,
        )
        return joined(element(kind, *sources, controls=True, preload=self.ahead), lost)
