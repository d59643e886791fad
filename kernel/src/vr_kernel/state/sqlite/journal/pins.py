"""Pins read from the records of the kinds that have any, in pieces."""

from __future__ import annotations

import re
import sqlite3
from collections.abc import Awaitable, Callable, Collection, Mapping
from functools import partial
from typing import Any, Protocol, TypeVar

from vr_kernel.records import RecordKind
from vr_kernel.state.pins import Pin, named_in
from vr_kernel.state.sqlite.journal.reading import read_document
from vr_kernel.storage.sound_rows import is_sound, is_text

T = TypeVar("T")
PAGE = 2000
"""Records that are read at once; others read and write between two pages."""
_NAME = re.compile(r"[0-9a-f]{64}\.[a-z0-9]{1,16}")
_THERE = "SELECT 1 FROM sqlite_master WHERE type = 'table' AND name = 'pinning'"
# A damaged kind is given as its bytes.
_RECORDS = (
    "SELECT seq, workspace, fields FROM record"
    " WHERE kind = CAST(? AS TEXT) AND seq > ? AND fields IS NOT NULL ORDER BY seq LIMIT ?"
)


class Read(Protocol):
    """Does work that reads, with a connection to the journal."""

    def __call__(self, work: Callable[[sqlite3.Connection], T], /) -> Awaitable[T]: ...  # noqa: D102 - said above


def keep_pinning(connection: sqlite3.Connection, kinds: Mapping[str, RecordKind]) -> None:
    """Note which fields of kinds pin artifacts, in the transaction that writes their records."""
    declared = {(kind.name, kind.pins) for kind in kinds.values() if kind.pins is not None}
    if not declared:
        return
    new = declared.difference(connection.execute("SELECT kind, field FROM pinning"))
    connection.executemany("INSERT INTO pinning VALUES (?,?)", sorted(new))


async def collect_pins(read: Read, kinds: Mapping[str, RecordKind]) -> set[Pin]:
    """Collect the pins of all records; a record that is replaced meanwhile is seen once more.

    Args:
        read: as `Read`.
        kinds: those that are declared, besides the ones that the file knows.
    """
    found: set[Pin] = set()
    pinning = await read(partial(_read_pinning, kinds=kinds))
    for kind, fields in pinning.items():
        after: int | None = 0
        while after is not None:
            page = partial(_read_page, kind=kind, fields=fields, after=after)
            pins, after = await read(page)
            found |= pins
    return found


def _read_pinning(
    connection: sqlite3.Connection, kinds: Mapping[str, RecordKind]
) -> dict[str, set[str]]:
    """The fields that pin artifacts, by kind; none for a kind of which every field may.

    Such are damaged kinds, and all where one of the noted fields is damaged.
    """
    found: dict[str, set[str]] = {}
    there = connection.execute(_THERE).fetchone()
    noted = connection.execute("SELECT kind, field FROM pinning").fetchall() if there else []
    declared = [(kind.name, kind.pins) for kind in kinds.values() if kind.pins is not None]
    for kind, field in [*noted, *declared]:
        found.setdefault(kind, set()).add(field)
    if found:
        unknown = not all(is_sound(row, (str, str)) for row in noted)
        for (kind,) in connection.execute("SELECT DISTINCT kind FROM record"):
            if isinstance(kind, str) and (unknown or not is_text(kind)):
                found[kind] = set()
    return found


def _read_page(
    connection: sqlite3.Connection, kind: str, fields: Collection[str], after: int
) -> tuple[set[Pin], int | None]:
    """The pins of some records, and the number of the last one; None when there are no more."""
    values = (kind.encode(errors="surrogateescape"), after, PAGE)
    rows = connection.execute(_RECORDS, values).fetchall()
    pins = {
        Pin(str(workspace), name) for _, workspace, text in rows for name in _named(text, fields)
    }
    return pins, rows[-1][0] if len(rows) == PAGE else None


def _named(text: Any, fields: Collection[str]) -> set[str]:
    """The artifacts that a record needs; of a damaged one all that it names."""
    document = read_document(text) if fields else None
    if document is not None:
        return named_in(document, fields)
    return set(_NAME.findall(text if isinstance(text, str) else repr(text)))
