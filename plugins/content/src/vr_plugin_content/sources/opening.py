"""Opens sources, and refuses what no parser should see."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from io import BufferedReader, BytesIO
from pathlib import Path
from urllib.parse import urldefrag, urlsplit

from vr_kernel import Services
from vr_kernel.http import Page

from vr_plugin_content.formats.kinds import (
    HEAD_BYTES,
    OLE,
    RECORDINGS,
    TEXT,
    Kind,
    fits,
    is_binary,
    kind_by_content,
    kind_by_mime,
    kind_by_name,
    suffix_of,
)
from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.sources.archives import check_archive
from vr_plugin_content.sources.errors import (
    MEGABYTE,
    empty,
    misnamed,
    protected,
    too_large,
    unknown,
    unread,
)
from vr_plugin_content.sources.source import Source, is_address, name_of

_UNTOLD = ("", "application/octet-stream", "binary/octet-stream", "text/plain")
"""Media types of servers that do not know what they send."""


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
        if suffix_of(name) in RECORDINGS or (found is None and is_binary(head)):
            raise unknown(name)
        return found or TEXT
    if not fits(kind, head):
        raise protected(name) if kind.archive and head.startswith(OLE) else misnamed(name, head)
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
        raise unread(page.mime)
    if not fits(said, head):
        raise misnamed(name_of(page.url), head)
    return said


def _check_bytes(content: bytes, settings: ContentSettings) -> None:
    check_archive(BytesIO(content), settings.max_file_mb * MEGABYTE)


def _digest(content: bytes) -> str:
    return hashlib.sha256(content).hexdigest()
