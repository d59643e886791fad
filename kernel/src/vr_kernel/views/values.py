"""JSON values that no view describes, as blocks: facts, texts, tables, and what is left as data."""

from __future__ import annotations

import json
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from vr_kernel.text.visible_text import spelled_json, visible_line
from vr_kernel.views.blocks import Block, Code, Facts, File, Prose, Table
from vr_kernel.views.links import Cell
from vr_kernel.views.validation import LARGEST_INT
from vr_kernel.views.words import titled

SHORT_CHARS = 100
"""Longest text, in characters, that is a fact; a longer one is prose."""
MOST_COLUMNS = 8
"""Most columns of a table of values; the rest is left to the data below it."""
CELL_CHARS = 300
"""Longest text, in characters, in a table of values."""
ARTIFACT = "vr://artifacts/"


def blocks_of(data: Mapping[str, Any], title: str = "") -> Iterator[Block]:
    """Blocks for the values of an object: its facts first, then the rest in its order."""
    filled = _without_twins({k: v for k, v in data.items() if not is_empty(v)})
    facts = {name: value for name, value in filled.items() if is_fact(value)}
    if facts:
        yield Facts([(titled(name), cell_of(value)) for name, value in facts.items()], title=title)
    for name, value in filled.items():
        if name not in facts:
            yield from blocks_of_value(titled(name), value)


def blocks_of_value(title: str, value: Any) -> Iterator[Block]:
    """Blocks for a value that is no fact."""
    if isinstance(value, str):
        if value.startswith(ARTIFACT):
            yield File(value, title=_file_title(title))
        elif (held := held_json(value)) is not None:
            yield data_block(title, held)
        else:
            yield Prose(value, title=title)
    elif isinstance(value, Mapping):
        yield from _mapping(title, value)
    elif all(isinstance(each, Mapping) for each in value):
        yield from _rows(title, value)
    elif any(isinstance(each, Mapping | list) for each in value):
        yield data_block(title, value)
    else:
        yield Prose(bullets(value), title=title)


def _file_title(title: str) -> str:
    """A heading without the word `uri`, which is for programs."""
    return " ".join(title.split()[:-1] or ["File"]) if title.lower().endswith("uri") else title


def _without_twins(data: Mapping[str, Any]) -> Mapping[str, Any]:
    """The values without paths of artifacts whose addresses are among them."""
    texts = [it for it in data.values() if isinstance(it, str)]
    kept = {it.removeprefix(ARTIFACT) for it in texts if it.startswith(ARTIFACT)}
    ends = tuple(f"{sep}{name}" for name in kept for sep in "/\\")
    return {
        name: it
        for name, it in data.items()
        if not (isinstance(it, str) and it.endswith(ends) and not it.startswith(ARTIFACT))
    }


def is_empty(value: object) -> bool:
    """Check for a value that says nothing."""
    return value is None or value in ("", [], {}, ())


def is_fact(value: object) -> bool:
    """Check for a value that fits on a line: a number, a yes or no, a short text."""
    if isinstance(value, str):
        plain = len(value) <= SHORT_CHARS and "\n" not in value and not value.startswith(ARTIFACT)
        return plain and held_json(value) is None
    return isinstance(value, bool | int | float)


def held_json(text: str) -> Any:
    """The object or list that a text spells as JSON; None for any other text."""
    if text.lstrip()[:1] not in ("{", "["):
        return None
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return None
    return value if isinstance(value, dict | list) else None


def data_block(title: str, value: Any) -> Code | Prose:
    """A value as JSON, for those who look closer."""
    try:
        return Code(spelled_json(value, 2), "json", title=title, detail=True)
    except RecursionError:
        return Prose("Nested too deeply to be shown.", title=title, detail=True)


def bullets(values: Sequence[object]) -> str:
    """A list in prose, one value an item."""
    return "\n".join(f"- {visible_line(str(value))}" for value in values)


def cell_of(value: Any) -> Cell:
    """A value in a table or among facts, short."""
    if isinstance(value, str):
        return visible_line(value, CELL_CHARS)
    if isinstance(value, float) and not math.isfinite(value):
        return str(value)
    if isinstance(value, int) and abs(value) > LARGEST_INT:
        return f"about 10^{value.bit_length() * math.log10(2):.0f}"
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, list) and all(isinstance(each, str | int | float) for each in value):
        return visible_line(", ".join(map(str, value)), CELL_CHARS)
    return None


def _mapping(title: str, value: Mapping[str, Any]) -> Iterator[Block]:
    facts = {name: each for name, each in value.items() if is_fact(each)}
    if facts:
        yield Facts([(titled(name), cell_of(each)) for name, each in facts.items()], title=title)
    rest = {k: v for k, v in value.items() if k not in facts and not is_empty(v)}
    if rest:
        yield data_block(title if not facts else f"{title}, the rest", rest)


def _rows(title: str, values: Sequence[Mapping[str, Any]]) -> Iterator[Block]:
    """A table of the values that are alike, and the data where that leaves something out."""
    names = list(dict.fromkeys(name for each in values for name in each))
    shown = [name for name in names if any(not is_empty(cell_of(v.get(name))) for v in values)]
    told, left = shown[:MOST_COLUMNS], shown[MOST_COLUMNS:]
    if told:
        rows = [[cell_of(each.get(name)) for name in told] for each in values]
        yield Table([titled(name) for name in told], rows, title=title)
    whole = all(is_empty(it) or cell_of(it) is not None for each in values for it in each.values())
    if left or not whole:
        yield data_block(f"{title}, as data", list(values))
