"""Records without a view of their own, shown by what their kind declares, or by what is there."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel.text.visible_text import visible_line
from vr_kernel.views.blocks import Block, Facts, Item, Prose, Records
from vr_kernel.views.links import NOWHERE, Cell, Link
from vr_kernel.views.model import View
from vr_kernel.views.values import SHORT_CHARS, blocks_of_value, cell_of, is_empty, is_fact
from vr_kernel.views.words import shown_instant, titled

if TYPE_CHECKING:
    from vr_kernel.records import RecordKind
    from vr_kernel.stores import StoredRecord

TITLE_CHARS = 120
"""Longest text that names a record, in characters."""
ITEM_CHARS = 300
"""Longest text of a record in a list, in characters."""
MOST_PLACE = 1e15
"""Last second and page there may be; NaN and infinity are beyond it."""
SOURCES, LINKS = ("source_url", "source", "url"), ("link", "url", "source_url")
"""Fields in which records of unknown kinds have their source and their link."""
PLACES = ("start", "end", "page")
"""Fields in which they have their place."""
COMMON = ("created_at", "source_tool")
"""Fields that every kind has."""
IDS = ("id", "key", "sha256", "digest", "uri", "link")
"""Ends of names of fields whose texts are for programs."""
_LETTERS = re.compile(r"[^\W\d_]")
_NAMELESS = re.compile(r"\d{4}-\d\d-\d\d(?:[T ].*)?|\w+://\S*|[0-9a-fA-F-]{16,}")
"""A date, an address, an id."""
_WORD = re.compile(r"[^\W_]+")


def view_of_records(kind: RecordKind | None, records: Sequence[StoredRecord]) -> View:
    """Show records of one kind: one in full, several as a list.

    Args:
        kind: their declaration; None when the plugin that had it is not installed.
        records: at least one.
    """
    if len(records) == 1:
        return _view_of_one(kind, records[0])
    name = kind.name if kind else records[0].kind
    items = [item_of(kind, each) for each in records]
    source = source_of(kind, records[0].fields)
    alike = all(source_of(kind, each.fields) == source for each in records)
    about = [kind.description] if kind else ["The plugin that declared this kind is not loaded."]
    return View(titled(name), [Records(items)], about, source if alike else "")


def item_of(kind: RecordKind | None, record: StoredRecord) -> Item:
    """A record in a list."""
    title, named = title_of(kind, record.fields, record.key)
    text = str(record.fields.get(kind.rerank) or "") if kind and named != kind.rerank else ""
    text = visible_line(text, ITEM_CHARS)
    words = _words(text)
    if words and words <= _words(title):
        text = ""
    variety = visible_line(kind.variety_of(record.fields), SHORT_CHARS) if kind else ""
    facts: list[Cell] = [variety, shown_instant(str(record.fields.get("created_at") or ""))]
    return Item(
        title,
        text,
        place_of(kind, record.fields),
        [fact for fact in facts if fact],
        f"{record.kind}/{record.key}",
    )


def title_of(kind: RecordKind | None, fields: Mapping[str, Any], key: str = "") -> tuple[str, str]:
    """The words that name a record, and the field they are of; the beginning of its text else.

    Args:
        kind: its declaration; None when the plugin that had it is not installed.
        fields: of the record.
        key: of the record, which names one of an unknown kind that has no words.
    """
    if kind and (named := visible_line(kind.named(fields), TITLE_CHARS)):
        return named, ""
    names = [field.name for field in kind.fields] if kind else list(fields)
    for name in names:
        value = fields.get(name)
        if name.split("_")[-1] not in ("title", "name") or not isinstance(value, str):
            continue
        if value.strip() and len(value) <= TITLE_CHARS:
            return visible_line(value), name
    for name in [kind.rerank] if kind else _telling(fields):
        if words := visible_line(str(fields.get(name) or "")):
            whole = len(words) <= SHORT_CHARS
            return visible_line(words, SHORT_CHARS), name if whole else ""
    return titled(kind.name) if kind else visible_line(key) or titled("record"), ""


def _telling(fields: Mapping[str, Any]) -> list[str]:
    """The fields whose texts a person knows a record by: short ones first; no dates, no ids."""
    texts = {
        name: value
        for name, value in fields.items()
        if name not in (*COMMON, *SOURCES, *LINKS)
        and name.split("_")[-1] not in IDS
        and isinstance(value, str)
        and _LETTERS.search(value)
        and not _NAMELESS.fullmatch(value)
    }
    return sorted(texts, key=lambda name: len(texts[name]) > TITLE_CHARS)


def _words(text: str) -> set[str]:
    return set(_WORD.findall(text.casefold()))


def source_of(kind: RecordKind | None, fields: Mapping[str, Any]) -> str:
    """The address or path of what a record is about; empty when it names none."""
    names = SOURCES if kind is None else (kind.source,) if kind.source else ()
    return next((str(fields[name]) for name in names if fields.get(name)), "")


def place_of(kind: RecordKind | None, fields: Mapping[str, Any]) -> Link:
    """The place of a record in its source."""
    names = LINKS if kind is None else (kind.link,) if kind.link else ()
    link = next((str(fields[name]) for name in names if fields.get(name)), "")
    located = kind.locator if kind else PLACES
    numbers = {it: fields[it] for it in located if is_place(fields.get(it))}
    page = numbers.get("page")
    start = numbers.get("start", numbers.get("seconds"))
    return Link(link, "", start, numbers.get("end"), int(page) if page is not None else None)


def is_place(value: object) -> bool:
    """Check for a number that a second or a page may have; a damaged record has others."""
    return type(value) in (int, float) and abs(value) <= MOST_PLACE  # type: ignore[arg-type]


def _view_of_one(kind: RecordKind | None, record: StoredRecord) -> View:
    fields = record.fields
    title, named = title_of(kind, fields, record.key)
    about = [titled(record.kind), shown_instant(str(fields.get("created_at") or ""))]
    if kind is None:
        about.append("the plugin that declared this kind is not loaded")
    elif kind.derived:
        about.append("derived, no evidence by itself")
    place = place_of(kind, fields)
    rows: list[tuple[str, Cell]] = [("Place", place)] if place != NOWHERE else []
    blocks = [Facts(rows)] if rows else []
    return View(
        title,
        [*_lead(kind, fields, named), *blocks, *_rest(kind, fields, named)],
        [each for each in about if each],
        source_of(kind, fields),
    )


def _lead(kind: RecordKind | None, fields: Mapping[str, Any], named: str) -> Iterator[Block]:
    if kind is None or kind.rerank == named:
        return
    if words := fields.get(kind.rerank):
        yield Prose(str(words))


def _rest(kind: RecordKind | None, fields: Mapping[str, Any], named: str) -> Iterator[Block]:
    """The rest of the fields in declared order: facts first, then texts."""
    skipped = {named, *COMMON}
    if kind is None:
        skipped |= {*SOURCES, *LINKS, *(it for it in PLACES if is_place(fields.get(it)))}
    else:
        skipped |= {kind.rerank, kind.source or "", kind.link or "", *kind.locator}
    names = [field.name for field in kind.fields] if kind else list(fields)
    names += [name for name in fields if name not in names]
    told = {it: fields[it] for it in names if it not in skipped and not is_empty(fields.get(it))}
    facts = [(titled(name), cell_of(value)) for name, value in told.items() if is_fact(value)]
    if facts:
        yield Facts(facts)
    for name, value in told.items():
        if not is_fact(value):
            yield from blocks_of_value(titled(name), value)
