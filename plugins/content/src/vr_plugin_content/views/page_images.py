"""Small pictures of a PDF's pages for a view: those that are made within a moment."""

from __future__ import annotations

import asyncio
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from vr_kernel import Services, VrError

from vr_plugin_content.formats.kinds import PDF
from vr_plugin_content.parsing.parser import Parser
from vr_plugin_content.sources.opening import open_source
from vr_plugin_content.sources.source import PASTED, is_address
from vr_plugin_content.sources.work_folder import work_folder

MOST_PAGES = 24
AT_ONCE = 6
"""Pages that are drawn before it is seen if there is time for more."""
SCALE = 0.9
"""Pixels per point: about 550 pixels for the width of a page."""
SECONDS = 1.2
"""From the beginning of a view to its last picture; views are given two seconds in all."""


async def images_of(
    services: Services, source: str, pages: Sequence[int], began: float
) -> Mapping[int, bytes]:
    """Return pictures of the first of these pages, by their numbers, as many as there is time for.

    Args:
        services: of the plugin.
        source: of the document.
        pages: numbers, the most wanted first.
        began: time of the event loop at which the view began.
    """
    if source == PASTED or is_address(source) or not source.lower().endswith(".pdf"):
        return {}
    images: dict[int, bytes] = {}
    try:
        async with asyncio.timeout_at(began + SECONDS):
            await _render(services, source, pages[:MOST_PAGES], images)
    except (VrError, TimeoutError, OSError):  # it was moved, or is protected
        return images
    return images


async def _render(
    services: Services, source: str, pages: Sequence[int], images: dict[int, bytes]
) -> None:
    """Draw pages, some at once, and add each picture as soon as it is there."""
    async with open_source(services, source) as opened:
        if opened.kind is not PDF:
            return
        for some in _parts(pages):
            with work_folder(services) as folder:
                asked = {"pages": list(some), "scale": SCALE, "folder": str(folder)}
                task = opened.task("render", services.settings, **asked)
                found: list[dict[str, Any]] = await services.providers.get(Parser).run(task)
                images |= await asyncio.to_thread(_read, folder, found)


def _parts(pages: Sequence[int]) -> Iterator[Sequence[int]]:
    yield from (pages[at : at + AT_ONCE] for at in range(0, len(pages), AT_ONCE))


def _read(folder: Path, found: Sequence[dict[str, Any]]) -> dict[int, bytes]:
    return {
        each["place"]["page"]: (folder / Path(each["file"]).name).read_bytes() for each in found
    }
