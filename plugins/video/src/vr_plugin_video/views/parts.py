"""Parts of views: lists, facts, data, and lines that begin with a time."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from vr_kernel import visible_line
from vr_kernel.text import spelled_json
from vr_kernel.views import Block, Cell, Code, Facts, Prose, Quote, titled

from vr_plugin_video.models import Moment
from vr_plugin_video.text.times import parse_time

SHORT_CHARS = 100
"""Longest text, in characters, that is a fact."""
_TIME = re.compile(r"\[?((?:[0-9]{1,3}:)?[0-5]?[0-9]:[0-5][0-9])\]?\s+")
_SEPARATOR = re.compile(r"\s*(?::|\n|[-\u2013\u2014] )\s*")
COMMON = ("created_at", "source_tool")
"""Fields that every kind of record has."""


def listed(title: str, items: Iterable[str]) -> list[Block]:
    """Texts as a list; nothing without them."""
    return prose(title, bullets(items))


def bullets(items: Iterable[str]) -> str:
    """Texts as a list in prose, each on one line."""
    return "\n".join(f"- {line}" for item in items if (line := visible_line(item)))


def prose(title: str, text: str) -> list[Block]:
    """A text; nothing for an empty one."""
    return [Prose(text, title=title)] if text.strip() else []


def facts(rows: Iterable[tuple[str, Cell]], title: str = "") -> list[Block]:
    """Names with their values; those without a value are left out."""
    told = [(name, value) for name, value in rows if value is not None and value != ""]
    return [Facts(told, title=title)] if told else []


def joined(items: Iterable[str]) -> str:
    """Short texts on one line."""
    return ", ".join(visible_line(item) for item in items)


def counted(count: int, noun: str) -> str:
    """A number of things in words."""
    return f"{count:,} {noun}{'s' * (count != 1)}"


def data(title: str, value: Any) -> Code:
    """A value as JSON, for those who look closer."""
    return Code(spelled_json(value, 2), "json", title=title, detail=True)


def rest(fields: Mapping[str, Any]) -> Iterator[Block]:
    """Values that no other part shows, such as those of an older shape."""
    told = {name: value for name, value in fields.items() if value not in (None, "", [], {})}
    short = {name: value for name, value in told.items() if _is_short(value)}
    yield from facts((titled(name), value) for name, value in short.items())
    for name, value in told.items():
        if name not in short:
            is_text = isinstance(value, str)
            yield Prose(value, title=titled(name)) if is_text else data(titled(name), value)


def timed(text: str) -> tuple[float | None, str]:
    """The time at the beginning of a line, such as `[00:47]`, in seconds, and the rest."""
    found = _TIME.match(text)
    return (parse_time(found[1], "time"), text[found.end() :]) if found else (None, text)


def timed_chunks(text: str) -> list[str]:
    """A text, split before each line that begins with a time."""
    chunks: list[str] = []
    for line in re.split(r"(?<=\n)", text):
        if chunks and not _TIME.match(line):
            chunks[-1] += line
        elif line:
            chunks.append(line)
    return chunks


def divided(title: str, summary: str) -> tuple[str, list[str]]:
    """A summary without the title that it begins with, and its lines that begin with a time."""
    text = summary.strip()
    after = _SEPARATOR.match(text, len(title)) if title and text.startswith(title) else None
    first, *chunks = timed_chunks(text[after.end() :] if after else text) or [""]
    if after is None and timed(first)[0] is not None:
        return "", [first, *chunks]
    return first.strip(), chunks


def quote_of(moment: Moment) -> Quote | None:
    """The words that a model quoted at a moment, with the result of their check."""
    if not (moment.quote or moment.status):
        return None
    known = moment.status == "moved" and moment.original_time
    note = f"Moved to where the quote was found; the model said {known}." if known else ""
    return Quote(moment.quote, mark=moment.status, note=note)


def _is_short(value: object) -> bool:
    if isinstance(value, str):
        return len(value) <= SHORT_CHARS and "\n" not in value
    return isinstance(value, bool | int | float)
