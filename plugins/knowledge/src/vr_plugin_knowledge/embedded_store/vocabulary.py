"""The terms of all texts, searchable by parts of them.

FTS5 can list the terms of its index, but reads all of it for that. So each term is stored once in a
table of its own, with a trigram index. Terms of few texts are added when these are written. Those
of many texts are collected later, when there is nothing else to do: one scan of the FTS5 index
costs less than tokenising each text. Until then a search scans that index itself.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterable, Sequence

from vr_plugin_knowledge.embedded_store.schema import TOKENIZER

FEW = 100
"""Most texts that are tokenised when they are written."""
AT_ONCE = 1000
"""Most terms that are searched one by one before they are indexed."""


def add_terms(connection: sqlite3.Connection, texts: Sequence[str]) -> None:
    """List the terms of new texts, or note that they are still to be listed."""
    if not texts:
        return
    if unlisted(connection) or len(texts) > FEW:
        connection.execute("UPDATE state SET value = value + 1 WHERE name = 'unlisted'")
        return
    _take_apart(connection, texts)
    connection.execute("INSERT OR IGNORE INTO term (term) SELECT term FROM temp.fresh_term")
    _index_parts(connection, AT_ONCE)


def drop_terms(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Remove the terms of deleted texts that no other text has."""
    _take_apart(connection, texts)
    gone = connection.execute(
        "SELECT id, f.term FROM temp.fresh_term f JOIN term USING (term)"
        " WHERE NOT EXISTS (SELECT 1 FROM occurrence o WHERE o.term = f.term)"
    ).fetchall()
    done = _state(connection, "indexed")
    indexed = [(number, term) for number, term in gone if number <= done]
    connection.executemany("INSERT INTO part (part, rowid, term) VALUES ('delete', ?, ?)", indexed)
    connection.executemany("DELETE FROM term WHERE id = ?", [(number,) for number, _ in gone])


def terms_with(connection: sqlite3.Connection, part: str) -> Sequence[str]:
    """The terms that hold a part of three letters or more."""
    if unlisted(connection):
        rows = connection.execute("SELECT term FROM vocabulary WHERE instr(term, ?)", (part,))
    else:
        rows = connection.execute(
            "SELECT term FROM part WHERE part MATCH ?"
            " UNION ALL SELECT term FROM term WHERE id > ? AND instr(term, ?)",
            (f'"{part}"', _state(connection, "indexed"), part),
        )
    return [term for (term,) in rows]


def unlisted(connection: sqlite3.Connection) -> int:
    """Count the writes of texts whose terms may be missing; 0 when all are listed."""
    return _state(connection, "unlisted")


def missing_terms(connection: sqlite3.Connection) -> tuple[int, list[str]]:
    """`unlisted` of this snapshot, and its missing terms."""
    if not (writes := unlisted(connection)):
        return 0, []
    sql = "SELECT term FROM vocabulary WHERE term NOT IN (SELECT term FROM term)"
    return writes, [term for (term,) in connection.execute(sql)]


def list_terms(connection: sqlite3.Connection, writes: int, missing: Iterable[str]) -> None:
    """Store what `missing_terms` found, unless more texts were written since."""
    if unlisted(connection) != writes:
        return
    each = [(term,) for term in missing]
    connection.executemany("INSERT OR IGNORE INTO term (term) VALUES (?)", each)
    _index_parts(connection, 1)
    connection.execute("UPDATE state SET value = 0 WHERE name = 'unlisted'")


def _take_apart(connection: sqlite3.Connection, texts: Iterable[str]) -> None:
    """Write the terms of the texts into `temp.fresh_term`."""
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh USING fts5"
        f" (words, content = '', columnsize = 0, detail = none, tokenize = '{TOKENIZER}')"
    )
    connection.execute(
        "CREATE VIRTUAL TABLE IF NOT EXISTS temp.fresh_term USING fts5vocab (temp, fresh, row)"
    )
    connection.execute("INSERT INTO temp.fresh (fresh) VALUES ('delete-all')")
    connection.execute("INSERT INTO temp.fresh (rowid, words) VALUES (1, ?)", ("\n".join(texts),))


def _index_parts(connection: sqlite3.Connection, least: int) -> None:
    """Index the newest terms once there are `least` of them, since each run is costly."""
    done = _state(connection, "indexed")
    (last,) = connection.execute("SELECT coalesce(max(id), 0) FROM term").fetchone()
    if last - done < least:
        return
    connection.execute(
        "INSERT INTO part (rowid, term) SELECT id, term FROM term WHERE id > ?", (done,)
    )
    connection.execute("UPDATE state SET value = ? WHERE name = 'indexed'", (last,))


def _state(connection: sqlite3.Connection, name: str) -> int:
    row = connection.execute("SELECT value FROM state WHERE name = ?", (name,)).fetchone()
    return int(row[0])
