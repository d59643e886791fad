"""Mentions of sources: what each record says of the video, file or page that it is about."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any, NamedTuple

from vr_kernel.records import is_storable
from vr_kernel.state.sqlite.journal.schema import Row
from vr_kernel.state.sqlite.journal.writing import Written

MOST = 20_000
"""Most records whose mentions are held at once."""
_RECORDS = (
    "SELECT seq, workspace, kind, fields, created_at FROM record"
    " WHERE seq > ? AND fields IS NOT NULL AND +kind IN ({}) ORDER BY seq"
)


class Role(NamedTuple):
    """The fields of a kind that name the source of a record and give its title."""

    number: int
    source: str
    title: str | None


Roles = Mapping[str, Role]
"""The roles of kinds, by name."""


class Mentions:
    """Words of some records about one source, in the order of their numbers.

    Attributes:
        records: number, role and time of each.
        titled: the number of the last that gives a title, and the title; 0 and empty for none.
    """

    __slots__ = ("records", "titled")

    def __init__(self) -> None:
        self.records: list[tuple[int, int, str]] = []
        self.titled = 0, ""


class MentionedSources(dict[tuple[str, str], Mentions]):
    """Sources that records mention, by workspace and name."""

    def note(
        self, seq: int, workspace: str, role: Role, fields: Mapping[str, Any], created_at: str
    ) -> None:
        """Note what a record says, if it names a source."""
        number, of_source, of_title = role
        source = fields.get(of_source)
        if not source or not isinstance(source, str):
            return
        place = (workspace, source)
        found = self.get(place)
        if found is None:
            found = self[place] = Mentions()
        at = fields.get("created_at")
        found.records.append((seq, number, at if isinstance(at, str) else created_at))
        title = fields.get(of_title) if of_title is not None else None
        if title and isinstance(title, str) and not title.isspace():
            found.titled = seq, title


def given_mentions(
    written: Iterable[Written], rows: Sequence[Row], roles: Roles
) -> MentionedSources:
    """Return what records say that were written just now, in these rows of one commit."""
    found = MentionedSources()
    workspace, *_, created_at = rows[0] if rows else ("", "")
    note = found.note
    for seq, kind, fields in written:
        role = roles.get(kind)
        if role is not None and fields is not None:
            note(seq, workspace, role, fields, created_at)
    return found


def read_mentions(
    connection: sqlite3.Connection, after: int, roles: Roles
) -> Iterator[MentionedSources]:
    """Read what the records of these kinds say that have a number above `after`."""
    if not roles:
        return
    rows = connection.execute(_RECORDS.format(",".join("?" * len(roles))), (after, *roles))
    while True:
        found, left = MentionedSources(), MOST
        for row in islice(rows, MOST):
            left -= 1
            fields = _read_fields(row, roles[row[2]])
            if fields is not None:
                found.note(row[0], row[1], roles[row[2]], fields, row[4])
        yield found
        if left:
            return


def _read_fields(row: Sequence[Any], role: Role) -> dict[str, Any] | None:
    """The fields of a record that say something of its source; None when it is damaged."""
    _, workspace, _, text, created_at = row
    try:
        fields = json.loads(text)
        given = {name: fields.get(name) for name in (role.source, role.title, "created_at") if name}
        texts = [value for value in given.values() if isinstance(value, str)]
        # Half characters come from an earlier version or a store; damaged bytes are read as such.
        sound = is_storable("".join((workspace, created_at, *texts)))
    except (AttributeError, RecursionError, TypeError, ValueError):
        return None
    return given if sound else None
