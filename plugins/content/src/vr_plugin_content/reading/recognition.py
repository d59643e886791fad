"""Pages without text, read by the recogniser of text that is installed."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from vr_kernel import Call, TextLine, TextRecognizer, VrError

from vr_plugin_content.reading.text_columns import in_columns
from vr_plugin_content.reading.text_rows import in_order
from vr_plugin_content.settings import OFF, ON, ContentSettings
from vr_plugin_content.sources.work_folder import work_folder

AT_ONCE = 4
"""Pages whose pictures are on the disk at a time."""
SCALE = 4.0
"""Pixels per point of a page that is read: 288 dpi. At 144 dpi a recogniser misreads small print.
Source: "Improving the quality of the output" of Tesseract."""
GIVES_UP_AFTER = 4
"""Failures in a row after which the rest is left: its program is missing, or the file hostile."""
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
    """The pages on which something was read.

    Attributes:
        pages: in order.
        limits: what was not read, and what to do about it.
        engine: name of the recogniser; empty for none.
        failed: number of pages that it could not read now, and may read another time.
    """

    pages: tuple[RecognizedPage, ...] = ()
    limits: tuple[str, ...] = ()
    engine: str = ""
    failed: int = 0


async def recognize_pages(call: Call, render: Render, wordless: Sequence[int]) -> Recognized:
    """Read pages that have no text; a page that cannot be read costs itself alone.

    Without a recogniser nothing is read, and the limits say how to get one.

    Args:
        call: the call that reads them.
        render: makes pictures of them.
        wordless: their numbers.
    """
    settings: ContentSettings = call.settings
    if settings.ocr == OFF:
        return Recognized(limits=(_unread(len(wordless), "ocr is off in [plugins.content]."),))
    try:
        wanted = None if settings.ocr == ON else settings.ocr
        recognizer = call.services.providers.get(TextRecognizer, wanted)
    except VrError as error:
        why = f"{error.message} {error.hint}"
        return Recognized(limits=(_unread(len(wordless), why),), failed=len(wordless))
    reading = _Reading(call, recognizer, render, wordless[: settings.max_ocr_pages])
    await reading.run()
    failed = sum(reading.failed.values())
    if left := len(wordless) - len(reading.wanted):
        reading.fail(left, "raise max_ocr_pages in [plugins.content] to have them read.")
    limits = tuple(_unread(count, why) for why, count in reading.failed.items())
    return Recognized(tuple(sorted(reading.found, key=_number)), limits, recognizer.name, failed)


class _Reading:
    """Reads the pages of one document, a few at a time."""

    def __init__(
        self, call: Call, recognizer: TextRecognizer, render: Render, wanted: Sequence[int]
    ) -> None:
        self.wanted = wanted
        self.found: list[RecognizedPage] = []
        self.failed: dict[str, int] = {}
        self._call = call
        self._recognizer = recognizer
        self._render = render
        self._done = self._in_a_row = 0
        self._why = ""

    async def run(self) -> None:
        for at in range(0, len(self.wanted), AT_ONCE):
            if self._in_a_row >= GIVES_UP_AFTER:
                self.fail(len(self.wanted) - at, self._why)
                return
            with work_folder(self._call.services) as folder:
                await self._some(list(self.wanted[at : at + AT_ONCE]), folder)

    def fail(self, count: int, why: str) -> None:
        self.failed[why] = self.failed.get(why, 0) + count
        self._in_a_row += count
        self._why = why

    async def _some(self, pages: list[int], folder: Path) -> None:
        pictures = await self._pictures(pages, folder)
        async with asyncio.TaskGroup() as tasks:
            for picture in pictures:
                tasks.create_task(self._page(folder, picture))

    async def _pictures(self, pages: list[int], folder: Path) -> list[dict[str, Any]]:
        """Return pictures of pages; of each alone when one of them fails."""
        try:
            pictures = await self._render(pages, folder)
        except VrError as error:
            if len(pages) > 1:
                alone = [await self._pictures([page], folder) for page in pages]
                return [picture for pictures in alone for picture in pictures]
            self._failed(error)
            return []
        if missing := len(pages) - len(pictures):
            self.fail(missing, "they are damaged and cannot be drawn.")
        return pictures

    async def _page(self, folder: Path, picture: dict[str, Any]) -> None:
        path = folder / Path(picture["file"]).name
        try:
            content = await asyncio.to_thread(path.read_bytes)
            lines = await self._recognizer.recognize(content)
        except VrError as error:
            self._failed(error)
        else:
            self._in_a_row = 0
            self._keep(picture, lines)
        self._done += 1
        number = picture["place"]["page"]
        self._call.progress(self._done, len(self.wanted), f"Reading page {number}")

    def _failed(self, error: VrError) -> None:
        self.fail(1, f"{error.message} {error.hint}".strip())

    def _keep(self, picture: dict[str, Any], lines: Sequence[TextLine]) -> None:
        """Keep what was read on a page, with boxes in the measure of the original."""
        rows = [row for part in in_columns(lines) for row in in_order(part)]
        covered = picture["place"].get("box")
        if covered and picture["width"]:
            by = covered[2] / picture["width"]
            rows = [replace(row, box=_scaled(row.box, by)) for row in rows]
        if rows:
            self.found.append(RecognizedPage(picture["place"]["page"], tuple(rows)))


def _scaled(box: tuple[float, float, float, float], by: float) -> tuple[float, float, float, float]:
    left, top, width, height = (round(side * by, 1) for side in box)
    return left, top, width, height


def _number(page: RecognizedPage) -> int:
    return page.number


def _unread(pages: int, why: str) -> str:
    count = "1 page without text was" if pages == 1 else f"{pages:,} pages without text were"
    return f"{count} not read: {why}"
