"""Places of records in their sources, and the names of those sources."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

from vr_kernel import Services, VrError, entity_key, visible_line
from vr_kernel.views import Link, shown_host

LABEL_CHARS = 80
"""Longest name of a source or of a place in it, in characters."""


def place_of(address: str | None, locator: Mapping[str, Any] | None, label: str = "") -> Link:
    """A place as a link: seconds and pages as numbers, other places in the words of the label."""
    placed = locator or {}
    start = number(placed.get("start", placed.get("seconds")))
    page = number(placed.get("page"))
    words = (value for value in placed.values() if isinstance(value, str) and value)
    told = "" if page is None else f"p. {int(page)}"
    said = [label, *(value for value in words if value != told)]
    return Link(
        address or "",
        visible_line(", ".join(filter(None, said)), LABEL_CHARS),
        start,
        number(placed.get("end")) if start is not None else None,
        None if page is None else int(page),
    )


def name_of_source(source: str | None) -> str:
    """The name of a source: its file or host."""
    return visible_line(shown_host(source), LABEL_CHARS) if source else ""


async def name_sources(services: Services, sources: Iterable[str | None]) -> dict[str, str]:
    """The names of sources: the titles that records give them, else their files or hosts."""
    return {each: await _name(services, each) for each in {*sources} if each}


async def _name(services: Services, source: str) -> str:
    try:
        known = await services.journal.source(services.workspace, entity_key("source", source))
    except VrError:
        known = None
    return (
        visible_line(known.title, LABEL_CHARS) if known and known.title else name_of_source(source)
    )


def number(value: object) -> float | None:
    """A finite number; None for anything else."""
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        return None
    return float(value)
