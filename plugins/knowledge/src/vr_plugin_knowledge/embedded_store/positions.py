"""The journal that the store's file follows, and its positions in journals followed before."""

from __future__ import annotations

import sqlite3

from vr_kernel import Position

_LEFT = "left/"
"""Prefix of the names of rows about journals that were followed before."""


def read_positions(connection: sqlite3.Connection) -> list[Position]:
    """Read the position in the journal that is followed, then those in others."""
    rows = dict(connection.execute("SELECT name, value FROM state"))
    left = {name.removeprefix(_LEFT): rows[name] for name in rows if name.startswith(_LEFT)}
    followed = Position(
        str(rows.get("journal", "")), str(rows.get("opening", "")), int(rows["cursor"])
    )
    return [followed, *(_position(journal, str(value)) for journal, value in sorted(left.items()))]


def follow(connection: sqlite3.Connection, position: Position) -> None:
    """Follow that journal from that position; keep the position in the previous journal."""
    rows = dict(connection.execute("SELECT name, value FROM state"))
    before = read_positions(connection)[0]
    if before.journal == position.journal:
        return
    if before.journal and before.seq > rows.get("followed from", 0):
        _put(connection, _LEFT + before.journal, f"{before.seq} {before.opening}")
    # A journal that is adopted, or followed again, has records here already.
    here = (before.seq > 0 and not before.journal) or _LEFT + position.journal in rows
    connection.execute("DELETE FROM state WHERE name = ?", (_LEFT + position.journal,))
    _put(connection, "journal", position.journal)
    _put(connection, "opening", position.opening)
    _put(connection, "cursor", position.seq)
    _put(connection, "followed from", 0 if here else position.seq)


def begin_again(connection: sqlite3.Connection, journal: str) -> None:
    """Follow that journal from its beginning, and forget all others."""
    follow(connection, Position(journal, "", 0))
    _put(connection, "cursor", 0)
    _put(connection, "opening", "")
    _put(connection, "followed from", 0)
    connection.execute("DELETE FROM state WHERE substr(name, 1, ?) = ?", (len(_LEFT), _LEFT))


def keep_opening(connection: sqlite3.Connection, journal: str, opening: str) -> None:
    """Store, with the cursor, the opening of the journal that issued its number."""
    if journal:
        _put(connection, "journal", journal)
        _put(connection, "opening", opening)


def _put(connection: sqlite3.Connection, name: str, value: str | int) -> None:
    connection.execute("INSERT OR REPLACE INTO state VALUES (?,?)", (name, value))


def _position(journal: str, value: str) -> Position:
    seq, _, opening = value.partition(" ")
    return Position(journal, opening, int(seq))
