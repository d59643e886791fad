"""Pages without text, and pictures, for a model that sees: as the file itself or as pictures."""

from __future__ import annotations

import asyncio
import hashlib
from collections.abc import AsyncIterator, Sequence
from contextlib import ExitStack, asynccontextmanager
from dataclasses import dataclass
from io import BufferedReader, BytesIO
from pathlib import Path
from typing import Any

from vr_kernel import Call, Media, ModelInfo, Part, Text

from vr_plugin_content.reading.documents import Reading
from vr_plugin_content.reading.reader import render_pages
from vr_plugin_content.settings import ContentSettings
from vr_plugin_content.sources.work_folder import work_folder

PDF = "application/pdf"
MOST_PDF_BYTES = 50_000_000
"""Largest PDF that is sent. Source: "Document understanding" of the Gemini API."""
SCALE = 1.5
"""Pixels per point of a page's picture."""


@dataclass(frozen=True, slots=True)
class Shown:
    """The parts of a request that show pages, and remarks on what is not shown."""

    parts: Sequence[Part] = ()
    notes: Sequence[str] = ()
    pictures: int = 0


def wanted_pages(reading: Reading) -> Sequence[int]:
    """Return the pages that a model should see: those without text, and every picture."""
    if reading.source is not None and reading.source.kind.format == "picture":
        return (1,)
    return reading.unread


@asynccontextmanager
async def shown_to(call: Call, reading: Reading, model: ModelInfo) -> AsyncIterator[Shown]:
    """Give what a model sees of a document, for a `with` block in which its files stay open.

    Raises:
        VrError: what the parser says of a page.
    """
    pages, source = wanted_pages(reading), reading.source
    if not pages or source is None:
        yield Shown()
    elif "pdf" in model.accepts and _can_be_sent(reading):
        file = source.file or _reader(source.content)
        yield Shown([Media(PDF, file=file, digest=source.sha256)], pictures=len(pages))
    elif "image" in model.accepts:
        async with _rendered(call, reading, pages) as shown:
            yield shown
    else:
        count = "1 page" if len(pages) == 1 else f"{len(pages)} pages"
        yield Shown(notes=[f"{model.name} sees no pictures: {count} without text were left out."])


def _can_be_sent(reading: Reading) -> bool:
    source = reading.source
    if source is None or source.kind.format != "pdf" or reading.password:
        return False
    size = len(source.content) if source.file is None else Path(source.file.name).stat().st_size
    return size <= MOST_PDF_BYTES


@asynccontextmanager
async def _rendered(call: Call, reading: Reading, pages: Sequence[int]) -> AsyncIterator[Shown]:
    settings: ContentSettings = call.settings
    assert reading.source is not None
    taken = list(pages[: settings.images_at_once])
    notes = []
    if len(pages) > len(taken):
        notes.append(f"{len(taken)} of {len(pages)} pages were shown; see images_at_once.")
    with work_folder(call.services) as folder, ExitStack() as files:
        made = await render_pages(
            call, reading.source, taken, folder, scale=SCALE, password=reading.password
        )
        parts: list[Part] = []
        for picture in made:
            media = await asyncio.to_thread(_media, files, folder, picture)
            parts += [Text(f"[p. {picture['place']['page']}] as a picture:"), media]
        yield Shown(parts, notes, len(made))


def _media(files: ExitStack, folder: Path, picture: dict[str, Any]) -> Media:
    file = files.enter_context((folder / Path(picture["file"]).name).open("rb"))
    digest = hashlib.file_digest(file, "sha256").hexdigest()
    file.seek(0)
    return Media(picture["mime"], file=file, digest=digest)


def _reader(content: bytes) -> BufferedReader:
    file: Any = BytesIO(content)
    return BufferedReader(file)
