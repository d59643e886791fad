"""Sources of a call: a file of this machine, a page or file of the web, or a text."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import asdict, dataclass
from io import BufferedReader
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import quote, unquote, urldefrag, urlsplit

from vr_kernel import Code, Locator, Services, VrError, spelled_out, visible_line
from vr_kernel.http import Page

from vr_plugin_content.formats.kinds import (
    HEAD_BYTES,
    HTML,
    KINDS,
    OLE,
    TEXT,
    Kind,
    fits,
    is_binary,
    kind_by_content,
    kind_by_mime,
    kind_by_name,
    suffix_of,
)
from vr_plugin_content.formats.parsed import Bounds
from vr_plugin_content.parsing.parser import ParseTask
from vr_plugin_content.parsing.worker import identity_of
from vr_plugin_content.reading.archives import check_archive
from vr_plugin_content.settings import ContentSettings

PASTED = "(text)"
"""The source of a text that was given as it is."""
MEGABYTE = 1_000_000
FRAGMENT_WORDS = 6
"""Words of a text by which a browser finds it on a page."""
FRAGMENT_CHARS = 200
_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "text/plain")


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
    def opened_by(self) -> str:
        """The address that opens it; empty for a text."""
        if self.is_pasted:
            return ""
        return self.address if self.on_web else Path(self.address).as_uri()

    def link(self, address: str, place: Locator, text: str) -> str:
        """Return what opens a place: a page by its number, one on the web by its first words.

        Args:
            address: that opens the whole, see `opened_by`.
            place: of the text.
            text: that stands there.
        """
        if place.page is not None and self.kind.format == "pdf":
            return f"{address}#page={place.page}"
        if self.on_web and self.kind is HTML:
            words = " ".join(text[:FRAGMENT_CHARS].lstrip("#").split()[:FRAGMENT_WORDS])
            return f"{address}#:~:text={quote(words, safe='')}" if words else address
        return address

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


def is_address(text: str) -> bool:
    """True for an http or https address."""
    return text.strip().lower().startswith(("http://", "https://"))


@asynccontextmanager
async def open_source(services: Services, source: str) -> AsyncIterator[Source]:
    """Open a path or an address, for a `with` block.

    Raises:
        VrError: what the path policy and the fetcher refuse; UNSUPPORTED for another kind of file,
            or one that is not what its name says; TOO_LARGE, category FILE_TOO_LARGE.
    """
    if is_address(source):
        yield await _fetched(services, source)
        return
    file = await asyncio.to_thread(services.policy.open_file, source)
    with file:
        yield await _of_file(services, file)


def pasted(text: str) -> Source:
    """Return a text that was given as it is."""
    content = text.encode("utf-8", "replace")
    return Source(PASTED, "text", hashlib.sha256(content).hexdigest(), TEXT, content=content)


async def _of_file(services: Services, file: BufferedReader) -> Source:
    settings: ContentSettings = services.settings
    kind = await asyncio.to_thread(_checked, file, settings)
    digest = await services.digests.sha256(file)
    return Source(file.name, Path(file.name).name, digest, kind, file)


def _checked(file: BufferedReader, settings: ContentSettings) -> Kind:
    """Find out what a file is, and refuse what no parser should see.

    Raises:
        VrError: as `open_source`.
    """
    name, most = Path(file.name).name, settings.max_file_mb * MEGABYTE
    size = file.seek(0, 2)
    file.seek(0)
    if size > most:
        raise too_large(name, size, settings.max_file_mb)
    head = file.read(HEAD_BYTES)
    file.seek(0)
    kind = _kind_of(name, head)
    if kind.archive:
        check_archive(file, most)
        file.seek(0)
    return kind


def _kind_of(name: str, head: bytes) -> Kind:
    """Return the kind of a file by its name, checked by its first bytes."""
    if not head:
        raise empty(name)
    kind = kind_by_name(name)
    if kind is None:
        found = kind_by_content(head)
        if found is None and is_binary(head):
            raise unknown(name)
        return found or TEXT
    if not fits(kind, head):
        raise _protected(name) if kind.archive and head.startswith(OLE) else misnamed(name, head)
    return kind


async def _fetched(services: Services, address: str) -> Source:
    page = await services.http.fetch(urldefrag(address.strip()).url)
    kind = _kind_of_page(page)
    if kind.archive:
        await asyncio.to_thread(_check_bytes, page.content, services.settings)
    digest = await asyncio.to_thread(_digest, page.content)
    return Source(
        address=urldefrag(address.strip()).url,
        name=name_of(page.url),
        sha256=digest,
        kind=kind,
        content=page.content,
        charset=page.charset or "",
    )


def _kind_of_page(page: Page) -> Kind:
    """Return what a server sent, by what it says and by the first bytes.

    Raises:
        VrError: UNSUPPORTED for another kind, and for bytes that are not what the server says.
    """
    name, head = urlsplit(page.url).path, page.content[:HEAD_BYTES]
    if not head:
        raise empty(name_of(page.url))
    said = kind_by_mime(page.mime)
    if page.mime in _UNTOLD or said is None:
        named = kind_by_name(name)
        said = named if named is not None and fits(named, head) else said
    if said is None:
        said = kind_by_content(head) if page.mime in _UNTOLD else None
    if said is None:
        raise _unread(page.mime)
    if not fits(said, head):
        raise misnamed(name_of(page.url), head)
    return said


def _check_bytes(content: bytes, settings: ContentSettings) -> None:
    from io import BytesIO

    check_archive(BytesIO(content), settings.max_file_mb * MEGABYTE)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()


def name_of(address: str) -> str:
    """Return the name of what is at an address: its last part, else its host."""
    parts = urlsplit(address)
    return visible_line(unquote(PurePosixPath(parts.path).name) or parts.netloc, 200)


def too_large(name: str, size: int, most_mb: int) -> VrError:
    """The error of a file above the bound."""
    return VrError(
        f"{spelled_out(name)} has {size / MEGABYTE:,.0f} MB; at most {most_mb} MB are read.",
        Code.TOO_LARGE,
        category="FILE_TOO_LARGE",
        hint="Split it, or raise max_file_mb in [plugins.content].",
    )


def empty(name: str) -> VrError:
    """The error of a file without a byte."""
    return VrError(
        f"{spelled_out(name)} is empty.",
        Code.UNSUPPORTED,
        category="DOCUMENT_EMPTY",
        hint="Check that it was saved, or downloaded whole.",
    )


def unknown(name: str) -> VrError:
    """The error of a binary file that nothing here reads."""
    known = " ".join(dict.fromkeys(kind.suffixes[0][1:] for kind in KINDS))
    return VrError(
        f"{spelled_out(name)} is not a kind of document that is read here.",
        Code.UNSUPPORTED,
        category="FILE_UNSUPPORTED",
        hint=f"These are, and source code: {known}.",
    )


def misnamed(name: str, head: bytes) -> VrError:
    """The error of bytes that are not what their name, or their server, says."""
    found = kind_by_content(head)
    seems = f"it begins as {_article(found.name)}" if found else "its bytes are something else"
    return VrError(
        f"{spelled_out(name)} is not what it says: {seems}.",
        Code.UNSUPPORTED,
        category="NOT_AS_NAMED",
        hint=f"Give it the ending {found.suffixes[0]}." if found else "Check where it comes from.",
    )


def _article(word: str) -> str:
    return f"{'an' if word[0].lower() in 'aeiou' else 'a'} {word}"


def _protected(name: str) -> VrError:
    return VrError(
        f"{spelled_out(name)} is protected by a password, or of an older format.",
        Code.AUTH,
        category="PASSWORD_NEEDED",
        hint="Open it in its own program, remove the password, and save it again.",
    )


def _unread(mime: str) -> VrError:
    return VrError(
        f"The address holds {visible_line(mime, 80) or 'an unknown type'}, which is not read here.",
        Code.UNSUPPORTED,
        category="CONTENT_TYPE",
        hint="Give the address of a page or a document. Films are for the video tools.",
    )
