"""Records in lists: their titles, the words that tell most, and the names of their sources."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from vr_kernel import Services, VrError, visible_line
from vr_kernel.views import Item, Link, title_of

from vr_plugin_knowledge.answering.passages import excerpt

SHOWN_CHARS = 72
"""Characters of a line that narrow terminals show."""
TEXT_CHARS = 300
"""Longest words of a record on a page and in a file; a terminal cuts them to its lines."""
_ENDS = ".,;:!?…)"
"""Signs after which the next line goes on without a mark between."""


async def read_fields(
    services: Services, collection: str, key: str, given: Mapping[str, Any]
) -> Mapping[str, Any]:
    """The fields of a record in full, as results have them shortened; else those that are given."""
    try:
        record = await services.journal.record(services.workspace, collection, key)
    except VrError:
        return given
    return given if record is None else record.fields or given


def item_of_record(
    services: Services,
    record: tuple[str, str],
    fields: Mapping[str, Any],
    place: Link,
    source: str,
    text: str | None = None,
    query: str = "",
    most: int = TEXT_CHARS,
) -> Item:
    """A record by its title, with the words that tell most about a question.

    Args:
        services: of the plugin.
        record: its collection and key.
        fields: its fields.
        place: where it stands in its source.
        source: the name of that.
        text: its words; those of the field that its kind ranks by when None.
        query: what was asked.
        most: longest words, in characters.
    """
    collection, key = record
    kind = services.kinds.get(collection)
    title, named = title_of(kind, fields)
    if text is None:
        main = kind.rerank if kind else ""
        text = str(fields.get(main) or "") if main != named else ""
    variety = visible_line(kind.variety_of(fields), SHOWN_CHARS) if kind else ""
    facts = [variety, place.label, source if source != title else ""]
    bare = Link(place.address, "", place.start, place.end, place.page)
    words = telling(_without_title(text, title), query, most)
    return Item(title, words, bare, list(filter(None, facts)), f"{collection}/{key}")


def telling(text: str, query: str, most: int) -> str:
    """A text on one line, from where most words of a question are, as a terminal cuts lines."""
    line = one_line(text)
    found = excerpt(line, query, SHOWN_CHARS)
    start = line.index(found)
    if len(line) - start < SHOWN_CHARS // 2:  # the end alone says too little
        start = 0
    words = _cut(line[start:].lstrip(" ·"), most)
    return f"…{words}" if start else words


def _cut(line: str, most: int) -> str:
    """A line of at most `most` characters, which ends at a word where one ends near."""
    if len(line) <= most:
        return line
    end = line.rfind(" ", most // 2, most)
    return f"{line[: end if end > 0 else most - 1].rstrip(' ·')}…"


def one_line(text: str) -> str:
    """The lines of a text as one, with a mark between those that are no sentences."""
    line = ""
    for each in filter(None, map(visible_line, text.split("\n"))):
        line += f"{'' if not line else ' ' if line[-1] in _ENDS else ' · '}{each}"
    return line


def _without_title(text: str, title: str) -> str:
    """A text without the title that it begins with, as a slide does."""
    line, _, rest = text.lstrip().partition("\n")
    return rest if rest.strip() and visible_line(line.lstrip("# ")) == title else text
