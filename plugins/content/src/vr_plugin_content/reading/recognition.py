"""Pages without text, read by the recogniser of text that is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vr_kernel import Call, TextLine, TextRecognizer, VrError

from vr_plugin_content.reading.text_rows import in_order
from vr_plugin_content.settings import OFF, ON, ContentSettings

AT_ONCE = 4
"""Pages whose pictures are on the disk at a time."""
Render = Callable[[list[int], Path], Awaitable[list[dict[str, Any]]]]
"""Writes pictures of pages into a folder, and returns the fields of `ParsedPicture`."""


@dataclass(frozen=True, slots=True)
class RecognizedPage:
    """The text on a page: its lines in reading order, with their boxes."""

    number: int
    lines: tuple[TextLine, ...]

    @property
    def text(self) -> str:
        """All lines."""
        return "\n".join(line.text for line in self.lines)


@dataclass(frozen=True, slots=True)
class Recognized:
    """The pages on which something was read, and what could not be read."""

    pages: tuple[RecognizedPage, ...] = ()
    limits: tuple[str, ...] = ()


async def recognize_pages(call: Call, render: Render, wordless: Sequence[int]) -> Recognized:
    """Read pages that have no text; a page that cannot be read costs itself alone.

    Without a recogniser nothing is read, and the limits say how to get one.

    Args:
        call: the call that reads them.
        render: makes pictures of them.
        wordless: their numbers.
    """
    settings: ContentSettings = call.settings
    try:
        recognizer = _recognizer(call, settings.ocr)
    except VrError as error:
        return Recognized(limits=(f"{_count(len(wordless))} no text. {error.hint}",))
    if recognizer is None:
        return Recognized(limits=(f"{_count(len(wordless))} no text; `ocr` is off.",))
    wanted = list(wordless[: settings.max_ocr_pages])
    limits = []
    if len(wordless) > len(wanted):
        left = len(wordless) - len(wanted)
        limits.append(f"{left} more pages have no text; max_ocr_pages lets more be read.")
    found: list[RecognizedPage] = []
    failed: dict[str, int] = {}
    with TemporaryDirectory() as folder:
        for at in range(0, len(wanted), AT_ONCE):
            for picture in await render(wanted[at : at + AT_ONCE], Path(folder)):
                path = Path(folder, Path(picture["file"]).name)
                try:
                    found.append(await _read(recognizer, path, picture))
                except VrError as error:
                    failed[error.message] = failed.get(error.message, 0) + 1
                call.progress(len(found), len(wanted), f"Reading page {picture['place']['page']}")
                await asyncio.to_thread(path.unlink)
    limits += [f"{_pages(count)} could not be read: {why}" for why, count in failed.items()]
    return Recognized(tuple(page for page in found if page.lines), tuple(limits))


def _recognizer(call: Call, wanted: str) -> TextRecognizer | None:
    """Return the recogniser; None when it is turned off.

    Raises:
        VrError: UNAVAILABLE when there is none, or none of that name.
    """
    if wanted == OFF:
        return None
    return call.services.providers.get(TextRecognizer, None if wanted == ON else wanted)


async def _read(recognizer: TextRecognizer, path: Path, picture: dict[str, Any]) -> RecognizedPage:
    content = await asyncio.to_thread(path.read_bytes)
    lines = in_order(await recognizer.recognize(content))
    covered = picture["place"].get("box")
    if covered and picture["width"]:
        by = covered[2] / picture["width"]
        lines = [replace(line, box=_scaled(line.box, by)) for line in lines]
    return RecognizedPage(picture["place"]["page"], tuple(lines))


def _scaled(box: tuple[float, float, float, float], by: float) -> tuple[float, float, float, float]:
    left, top, width, height = (round(side * by, 1) for side in box)
    return left, top, width, height


def _count(pages: int) -> str:
    return "1 page has" if pages == 1 else f"{pages} pages have"


def _pages(count: int) -> str:
    return "1 page" if count == 1 else f"{count} pages"
