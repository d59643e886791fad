"""The view of an extraction: each value with the words of the document that carry it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Services, visible_line
from vr_kernel.text import spelled_json
from vr_kernel.views import Block, Cell, Code, Link, Mark, Table, View, said, view

from vr_plugin_content.json_pointers import leaves_of, pointer_of, value_at
from vr_plugin_content.results.extraction import ContentExtraction, Evidence
from vr_plugin_content.views.places import address_of, counted, name_of

MOST_ROWS = 500
QUOTE_CHARS = 300
"""Longest quote in the table."""
BELOW = " > "
MARKS: Mapping[Mark, str] = {
    "verified": "✓ found",
    "moved": "✓ found elsewhere",
    "not_found": "✗ not found",
    "unchecked": "not checked",
}
"""The results of the check of a quote, in words."""


@view(tool="content_extract")
async def show_extraction(services: Services, extraction: ContentExtraction) -> View:
    """Show extracted data, with a quote, its place and its check for each value."""
    del services
    paths = [*leaves_of(extraction.data)]
    blocks: list[Block] = []
    if paths:
        blocks.append(_table(extraction, paths))
    if extraction.data is not None:
        text = spelled_json(extraction.data, 2)
        blocks.append(Code(text, "json", title="As JSON", detail=bool(paths)))
    about = [
        f"read by {extraction.model}" if extraction.model else "",
        counted(len(paths), "value"),
        "from the cache" if extraction.cached else "",
    ]
    return View(
        extraction.title or name_of(extraction.source),
        blocks,
        [each for each in about if each],
        extraction.source if address_of(extraction.source) else "",
        _notes(extraction),
    )


def _table(extraction: ContentExtraction, paths: list[list[str]]) -> Table:
    """Values in the order of the data; evidence of a whole part stands before its values."""
    evidence = {each.path: each for each in extraction.evidence}
    shown: dict[str, list[str]] = {}
    for path in paths:
        for length in range(len(path)):
            if pointer_of(path[:length]) in evidence:
                shown.setdefault(pointer_of(path[:length]), path[:length])
        shown[pointer_of(path)] = path
    rows = [
        _row(path, extraction.data, evidence.get(pointer))
        for pointer, path in list(shown.items())[:MOST_ROWS]
    ]
    return Table(["Field", "Value", "Quote", "Place", "Check"], rows, len(shown), title="Data")


def _row(path: list[str], data: Any, evidence: Evidence | None) -> list[Cell]:
    value = value_at(data, path)
    row: list[Cell] = [_field(path, data), _told(value)]
    if evidence is None:
        return [*row, None, None, None]
    quote = visible_line(evidence.quote, QUOTE_CHARS) or None
    place = Link(evidence.link, evidence.place) if evidence.place else None
    return [*row, quote, place, MARKS[evidence.status]]


def _told(value: Any) -> str:
    """A value in words, with all of its digits."""
    if isinstance(value, list | dict):
        return counted(len(value), "part")
    return repr(value) if isinstance(value, float) else said(value)


def _field(path: list[str], data: Any) -> str:
    """The way to a value in words; things in a list are counted from 1."""
    steps: list[str] = []
    for at, step in enumerate(path):
        is_listed = isinstance(value_at(data, path[:at]), list)
        steps.append(str(int(step) + 1) if is_listed else step)
    return BELOW.join(steps) or "(all)"


def _notes(extraction: ContentExtraction) -> list[str]:
    notes = [*extraction.limits]
    if extraction.dropped:
        left = counted(extraction.dropped, "value")
        notes.append(f"{left} left out, whose quotes were not found.")
    return notes
