"""Sources: a file of this machine, a page or file of the web, or a text."""

from __future__ import annotations

import hashlib
from dataclasses import asdict, dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urlsplit

from vr_kernel import Locator, visible_line

from vr_plugin_content.formats.kinds import HTML, TEXT, Kind, suffix_of
from vr_plugin_content.formats.parsed import Bounds
from vr_plugin_content.parsing.parser import ParseTask
from vr_plugin_content.parsing.worker import identity_of
from vr_plugin_content.settings import ContentSettings

PASTED = "(text)"
"""The source of a text that was given as it is."""
FRAGMENT_WORDS = 6
"""Words of a text by which a browser finds it on a page."""
FRAGMENT_CHARS = 200


@dataclass(frozen=True, slots=True)
class Source:
    """A document that was opened and checked, known by its content.

    Attributes:
        address: where it is, as records name it: a path, an address, or `(text)`.
        name: a title when the document has none.
        sha256: of its bytes in hexadecimal.
        kind: what it is, by name, media type and first bytes.
        file: the opened file; None for what came from the web, or is a text.
        content: the bytes of what is no file.
        charset: as the server of a page says.
    """

    address: str
    name: str
    sha256: str
    kind: Kind
    file: BufferedReader | None = None
    content: bytes = b""
    charset: str = ""

    @property
    def is_pasted(self) -> bool:
        """True for a text that was given as it is."""
        return self.address == PASTED

    @property
    def on_web(self) -> bool:
        """True for a page or file of the web."""
        return is_address(self.address)

    @property
    def links(self) -> SourceLinks:
        """The addresses that open it at its places."""
        if self.is_pasted:
            return SourceLinks("", self.kind)
        return SourceLinks(self.address if self.on_web else Path(self.address).as_uri(), self.kind)

    def task(self, work: str, settings: ContentSettings, **asked: Any) -> ParseTask:
        """Return a task for a parser: `parse`, `pictures` or `render`."""
        bounds = Bounds(chars=settings.max_chars, pages=settings.max_pages)
        told = {
            "name": self.name_of_file,
            "charset": self.charset,
            "address": self.address if self.on_web else "",
            "bounds": asdict(bounds),
            **asked,
        }
        if self.file is None:
            return ParseTask(self.kind.format, work, told, body=self.content)
        return ParseTask(
            self.kind.format, work, told, path=self.file.name, identity=identity_of(self.file)
        )

    @property
    def name_of_file(self) -> str:
        """The name of the file with its suffix, by which formats tell their varieties."""
        if suffix_of(self.name) in self.kind.suffixes:
            return self.name
        return f"{self.name}{self.kind.suffixes[0]}"


@dataclass(frozen=True, slots=True)
class SourceLinks:
    """Addresses that open a source at a place: a page by its number, one of the web by its words.

    Attributes:
        address: that opens the whole; empty for a text.
        kind: of the source.
    """

    address: str
    kind: Kind

    def link(self, place: Locator, text: str) -> str:
        """Return the address of a place, given the text that stands there."""
        if place.page is not None and self.kind.format == "pdf":
            return f"{self.address}#page={place.page}"
        if self.kind is HTML and is_address(self.address):
            words = " ".join(text[:FRAGMENT_CHARS].lstrip("#").split()[:FRAGMENT_WORDS])
            return f"{self.address}#:~:text={quote(words, safe='')}" if words else self.address
        return self.address


def is_address(text: str) -> bool:
    """True for an http or https address."""
    return text.strip().lower().startswith(("http://", "https://"))


def pasted(text: str) -> Source:
    """Return a text that was given as it is."""
    content = text.encode("utf-8", "replace")
    return Source(PASTED, "text", hashlib.sha256(content).hexdigest(), TEXT, content=content)


def name_of(address: str) -> str:
    """Return the name of what is at an address: its last part, else its host."""
    parts = urlsplit(address)
    return visible_line(unquote(PurePosixPath(parts.path).name) or parts.netloc, 200)
