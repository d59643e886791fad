"""Documents by their path or address, whatever they are: files, pages, folders, repositories."""

from __future__ import annotations

import asyncio
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from vr_kernel import Call, Code, Document, DocumentPicture, Locator, Services, VrError

from vr_plugin_content.folders.github import parse_github
from vr_plugin_content.folders.reading import read_folder, read_repository
from vr_plugin_content.parsing.kept_document import locator_of
from vr_plugin_content.parsing.parser import Parser
from vr_plugin_content.reading.reader import read_document
from vr_plugin_content.sources.opening import open_source
from vr_plugin_content.sources.source import Source, is_address
from vr_plugin_content.sources.work_folder import work_folder

HAVE_PICTURES = frozenset({"pdf", "office"})
"""Formats whose parsers write the pictures of a document."""


@dataclass(frozen=True, slots=True)
class Reading:
    """A document that was read.

    Attributes:
        document: its text with places; without any segment when nothing could be read, which its
            limits say.
        source: the opened file or page; None for a folder or a repository.
        unread: numbers of pages that show something, and have no text.
        password: by which it was opened; kept nowhere.
    """

    document: Document
    source: Source | None
    unread: tuple[int, ...] = ()
    password: str = field(default="", repr=False)


@asynccontextmanager
async def opened_any(
    call: Call, source: str, password: str = "", *, blank: bool = False
) -> AsyncIterator[Reading]:
    """Read what a path or an address names, for a `with` block in which its file stays open.

    Args:
        call: the call that reads it.
        source: a path or an address.
        password: of an encrypted document.
        blank: accept a document in which nothing could be read.

    Raises:
        VrError: as `open_source` and `read_document`.
    """
    if (whole := await _whole(call, source)) is not None:
        yield Reading(whole, None)
        return
    async with open_source(call.services, source) as opened:
        document, unread = await read_document(call, opened, password)
        if not blank:
            require_text(document)
        yield Reading(document, opened, unread, password)


async def read_any(call: Call, source: str, password: str = "") -> Document:
    """Read what a path or an address names.

    Raises:
        VrError: as `opened_any`.
    """
    async with opened_any(call, source, password) as reading:
        return reading.document


async def _whole(call: Call, source: str) -> Document | None:
    """Read a folder, or a repository at GitHub; None for anything else."""
    if is_address(source):
        repository = parse_github(source)
        return None if repository is None else await read_repository(call, repository)
    if await asyncio.to_thread(_is_folder, source):
        return await read_folder(call, source)
    return None


def refusal_of(services: Services, source: str) -> VrError | None:
    """Return why a path or an address may not be read, before anything of it is; blocks."""
    try:
        if is_address(source):
            services.http.check(source)
        elif _is_folder(source):
            services.policy.resolve_folder(source)
        else:
            services.policy.resolve_file(source)
    except VrError as error:
        return error
    return None


def _is_folder(source: str) -> bool:
    try:
        return os.path.isdir(os.path.expanduser(source))  # noqa: PTH111, PTH112 - takes any text
    except ValueError:  # it holds a NUL; the path policy says so
        return False


def require_text(document: Document) -> None:
    """Refuse a document in which nothing could be read.

    Raises:
        VrError: UNSUPPORTED, category DOCUMENT_EMPTY.
    """
    if not document.segments:
        raise VrError(
            f"Nothing could be read in {document.title}.",
            Code.UNSUPPORTED,
            category="DOCUMENT_EMPTY",
            hint=" ".join(document.limits) or "It holds no text.",
        )


async def pictures_of(call: Call, source: str, password: str = "") -> list[DocumentPicture]:
    """Keep the pictures of a document as artifacts; none for a kind that has none.

    Raises:
        VrError: as `open_source`; what the parser says; UNAVAILABLE when nothing can be kept.
    """
    if await _whole(call, source) is not None:
        return []
    async with open_source(call.services, source) as opened:
        if opened.kind.format == "picture":
            return [await _itself(call, opened)]
        if opened.kind.format not in HAVE_PICTURES:
            return []
        with work_folder(call.services) as folder:
            asked = {"folder": str(folder), "password": password}
            task = opened.task("pictures", call.settings, **asked)
            found: list[dict[str, Any]] = await call.services.providers.get(Parser).run(task)
            return await asyncio.to_thread(_kept, call, folder, found)


def _kept(call: Call, folder: Path, found: list[dict[str, Any]]) -> list[DocumentPicture]:
    return [
        DocumentPicture(
            uri=call.artifact(folder / Path(each["file"]).name, each["mime"]).uri,
            mime=each["mime"],
            locator=locator_of(each["place"]),
            alt=each["alt"],
            width=each["width"],
            height=each["height"],
        )
        for each in found
    ]


async def _itself(call: Call, source: Source) -> DocumentPicture:
    content: bytes | Path = source.content if source.file is None else Path(source.file.name)
    kept = await asyncio.to_thread(call.artifact, content, source.kind.mime)
    return DocumentPicture(kept.uri, source.kind.mime, Locator(page=1))
