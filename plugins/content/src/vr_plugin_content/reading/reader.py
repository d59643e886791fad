"""Reads documents: parsed in a worker, pages without text recognised, kept in the cache."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from vr_kernel import Call, Document, TextRecognizer, cache_key

from vr_plugin_content.parsing.kept_document import FORMATS_VERSION, KeptDocument, KeptPiece
from vr_plugin_content.parsing.parser import Parser
from vr_plugin_content.reading.recognition import SCALE, recognize_pages
from vr_plugin_content.settings import OFF, ON, ContentSettings
from vr_plugin_content.sources.source import Source


class ReadDocument(NamedTuple):
    """A document, and the numbers of its pages that show something and have no text."""

    document: Document
    unread: tuple[int, ...]


async def read_document(call: Call, source: Source, password: str = "") -> ReadDocument:
    """Read a source: its text in order with places, its outline, what could not be read.

    A document that was opened with a password is not kept in the cache.

    Raises:
        VrError: what the parser says.
    """
    if password:
        kept = await _read(source, password, call)
    else:
        kept = await call.once(
            _key(call, source),
            KeptDocument,
            partial(_read, source, password),
            content_id=source.sha256,
        )
    document = await asyncio.to_thread(
        kept.as_document, source.address, source.name, source.sha256, source.links
    )
    return ReadDocument(document, tuple(kept.wordless))


async def render_pages(
    call: Call,
    source: Source,
    pages: Sequence[int],
    folder: Path,
    *,
    scale: float = 2.0,
    password: str = "",
) -> list[dict[str, Any]]:
    """Write pictures of pages into a folder; returns the fields of `ParsedPicture`, in order.

    Raises:
        VrError: what the parser says.
    """
    asked = {
        "pages": list(pages), "scale": scale, "folder": str(folder), "password": password
    }  # fmt: skip
    task = source.task("render", call.settings, **asked)
    found: list[dict[str, Any]] = await call.services.providers.get(Parser).run(task)
    return found


def _key(call: Call, source: Source) -> str:
    settings: ContentSettings = call.settings
    return cache_key(
        document=source.sha256,
        format=source.kind.format,
        name=source.name_of_file,
        charset=source.charset,
        version=FORMATS_VERSION,
        bounds=[settings.max_chars, settings.max_pages, settings.max_ocr_pages],
        recognizer=_recognizer(call),
    )


def _recognizer(call: Call) -> str:
    """Return the name of what reads pages without text; empty for none."""
    wanted: str = call.settings.ocr
    names = call.services.providers.names(TextRecognizer)
    if wanted == OFF or not names:
        return ""
    return wanted if wanted != ON else names[0]


async def _read(source: Source, password: str, call: Call) -> KeptDocument:
    settings: ContentSettings = call.settings
    task = source.task("parse", settings, password=password)
    kept = KeptDocument.of(await call.services.providers.get(Parser).run(task))
    if not kept.wordless:
        return kept
    return await _recognized(source, password, call, kept)


async def _recognized(
    source: Source, password: str, call: Call, kept: KeptDocument
) -> KeptDocument:
    """Return the document with what a recogniser reads on its pages without text."""

    async def render(pages: list[int], folder: Path) -> list[dict[str, Any]]:
        return await render_pages(call, source, pages, folder, scale=SCALE, password=password)

    found = await recognize_pages(call, render, kept.wordless)
    if found.failed:
        call.skip_cache()
    known = {page.number for page in found.pages}
    if source.kind.format == "picture":
        read = [
            KeptPiece(text=line.text, place={"box": list(line.box)})
            for page in found.pages
            for line in page.lines
        ]
    else:
        read = [KeptPiece(text=page.text, place={"page": page.number}) for page in found.pages]
    pieces = sorted([*kept.pieces, *read], key=lambda piece: piece.place.get("page", 0))
    changes = {
        "pieces": pieces,
        "limits": [*kept.limits, *found.limits],
        "wordless": [number for number in kept.wordless if number not in known],
    }
    return kept.model_copy(update=changes)
