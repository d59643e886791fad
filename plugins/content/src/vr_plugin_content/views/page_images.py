"""Small pictures of a PDF's pages for a view, made within a moment or left out."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from vr_kernel import Services, VrError

from vr_plugin_content.formats.kinds import PDF
from vr_plugin_content.parsing.parser import Parser
from vr_plugin_content.sources.opening import open_source
from vr_plugin_content.sources.source import PASTED, is_address

MOST_PAGES = 12
SCALE = 0.9
"""Pixels per point: about 550 pixels for the width of a page."""
SECONDS = 1.2
"""Views are given two seconds in all."""


async def images_of(services: Services, source: str, pages: Sequence[int]) -> Mapping[int, bytes]:
    """Return pictures of the first of these pages, by their numbers; none when it takes too long.

    Args:
        services: of the plugin.
        source: of the document.
        pages: numbers, the most wanted first.
    """
    if source == PASTED or is_address(source) or not source.lower().endswith(".pdf"):
        return {}
    try:
        async with asyncio.timeout(SECONDS):
            return await _rendered(services, source, pages[:MOST_PAGES])
    except (VrError, TimeoutError, OSError):  # it was moved, or is protected
        return {}


async def _rendered(services: Services, source: str, pages: Sequence[int]) -> Mapping[int, bytes]:
    async with open_source(services, source) as opened:
        if opened.kind is not PDF:
            return {}
        with TemporaryDirectory() as folder:
            asked = {"pages": list(pages), "scale": SCALE, "folder": folder}
            task = opened.task("render", services.settings, **asked)
            found: list[dict[str, Any]] = await services.providers.get(Parser).run(task)
            return await asyncio.to_thread(_read, Path(folder), found)


def _read(folder: Path, found: Sequence[dict[str, Any]]) -> dict[int, bytes]:
    return {
        each["place"]["page"]: (folder / Path(each["file"]).name).read_bytes() for each in found
    }
