"""The database of the embedded store: its tables, and the form of an item's number."""

from __future__ import annotations

import sqlite3
import time
import zlib

VERSION = 3
"""`PRAGMA user_version` of this layout; a file of another layout is rebuilt from the journal."""
BEFORE = 2
"""The previous layout, without a list of terms; it gets one."""
TOKENIZER = "porter unicode61 remove_diacritics 2"
"""Splits texts into terms: words without accents and English endings."""

PAGE_BYTES = 8192
"""A page holds five vectors of 384 numbers; SQLite's default of 4096 would waste a quarter."""
WAL_ATTEMPTS = 100
WAL_PAUSE_S = 0.05

SCOPE_BITS = 40
"""An item's number is its scope shifted by this, plus a count within the scope.

So the items of one kind in one workspace are a range of numbers, which full-text search
honours without a join.
"""

# A vector row is never changed in place: it is replaced by one with a higher `seq`, and by one
# without a value when the vector is gone. A reader that continues from a `seq` misses nothing.
SCHEMA = """
CREATE TABLE state (name TEXT PRIMARY KEY, value INTEGER NOT NULL) WITHOUT ROWID;
INSERT INTO state VALUES ('cursor', 0);
CREATE TABLE scope (
    id INTEGER PRIMARY KEY,
    workspace TEXT NOT NULL,
    kind TEXT NOT NULL,
    crc INTEGER NOT NULL,
    last_item INTEGER NOT NULL DEFAULT 0,
    items INTEGER NOT NULL DEFAULT 0,
    UNIQUE (workspace, kind)
);
CREATE TABLE item (
    id INTEGER PRIMARY KEY,
    scope INTEGER NOT NULL,
    key TEXT NOT NULL,
    seq INTEGER NOT NULL,
    shape TEXT NOT NULL,
    digest BLOB,
    fields TEXT NOT NULL,
    provenance TEXT NOT NULL,
    checksum INTEGER NOT NULL,
    UNIQUE (scope, key)
);
CREATE INDEX item_to_embed ON item (seq) WHERE digest IS NOT NULL;
CREATE INDEX item_shape ON item (scope, shape);
CREATE VIRTUAL TABLE body USING fts5 (
    words, tokenize = 'porter unicode61 remove_diacritics 2'
);
CREATE VIRTUAL TABLE vocabulary USING fts5vocab (body, row);
CREATE VIRTUAL TABLE occurrence USING fts5vocab (body, instance);
CREATE TABLE facet (
    scope INTEGER NOT NULL,
    field TEXT NOT NULL,
    value NOT NULL,
    item INTEGER NOT NULL,
    PRIMARY KEY (scope, field, value, item)
) WITHOUT ROWID;
CREATE INDEX facet_item ON facet (item);
CREATE TABLE vector (
    seq INTEGER PRIMARY KEY AUTOINCREMENT,
    item INTEGER NOT NULL,
    embedder TEXT NOT NULL,
    live INTEGER NOT NULL,
    value BLOB
);
CREATE UNIQUE INDEX vector_item ON vector (item, embedder, live);
"""
# The terms of `body`, each once, with an index of their trigrams up to the `indexed` one.
_WORDS = """
INSERT INTO state VALUES ('unlisted', 0), ('indexed', 0);
CREATE TABLE term (id INTEGER PRIMARY KEY AUTOINCREMENT, term TEXT NOT NULL UNIQUE);
CREATE VIRTUAL TABLE part USING fts5 (
    term, content = term, content_rowid = id, tokenize = 'trigram case_sensitive 1'
);
"""
SCHEMA += _WORDS


class OtherLayoutError(sqlite3.DatabaseError):
    """The file is sound, but belongs to another version of this program or to another program."""


class DamagedRowError(sqlite3.DatabaseError):
    """A row does not hold what was written into it."""


_DAMAGED = (
    "Could not decode to UTF-8", "invalid fts5 file format", "malformed", "no such column",
    "no such module", "no such table", "no such tokenizer", "unrecognized token", "near ",
)  # fmt: skip
"""Ordinary errors that mean damage, since all statements and tables are our own."""


def is_damage(error: Exception) -> bool:
    """True for an error that means that the file's content is not what was written."""
    name = getattr(error, "sqlite_errorname", None) or ""
    return (
        # SQLite's message may quote damaged bytes, which cannot be decoded.
        isinstance(error, OtherLayoutError | DamagedRowError | UnicodeDecodeError)
        # A header with a wrong file size shows in the last two.
        or name.startswith(
            ("SQLITE_CORRUPT", "SQLITE_NOTADB", "SQLITE_IOERR_FSTAT", "SQLITE_IOERR_SHORT_READ")
        )
        or str(error).startswith(_DAMAGED)
    )


def scope_crc(workspace: str, kind: str) -> int:
    """Checksum of a scope's names, by which damage is noticed."""
    return zlib.crc32(f"{workspace}\0{kind}".encode())


def require_sound_scopes(connection: sqlite3.Connection) -> None:
    """Refuse a file in which the name of a kind or of a workspace was changed.

    Raises:
        DamagedRowError: when a name differs from what was written.
    """
    for workspace, kind, crc in connection.execute("SELECT workspace, kind, crc FROM scope"):
        if scope_crc(workspace, kind) != crc:
            raise DamagedRowError("a scope is not what was written")


def prepare(connection: sqlite3.Connection) -> None:
    """Create this layout in an empty file; leave a file that has it unchanged.

    Raises:
        OtherLayoutError: when the file holds something else.
    """
    connection.execute(f"PRAGMA page_size = {PAGE_BYTES}")
    _use_wal(connection)
    if _version(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        _create(connection)
    except BaseException:
        connection.rollback()
        raise
    connection.commit()


def scope_of(item: int) -> int:
    """The scope that an item's number belongs to."""
    return item >> SCOPE_BITS


def scope_range(scope: int) -> tuple[int, int]:
    """Lowest and highest item number of a scope."""
    return scope << SCOPE_BITS, ((scope + 1) << SCOPE_BITS) - 1


def _create(connection: sqlite3.Connection) -> None:
    # Another process may have done it while this one waited for the lock.
    if _version(connection) == VERSION:
        return
    if _version(connection) == BEFORE:
        _run(connection, _WORDS)
        connection.execute("UPDATE state SET value = 1 WHERE name = 'unlisted'")
    elif connection.execute("SELECT count(*) FROM sqlite_schema").fetchone()[0]:
        raise OtherLayoutError("it has another layout")
    else:
        _run(connection, SCHEMA)
    connection.execute(f"PRAGMA user_version = {VERSION}")


def _run(connection: sqlite3.Connection, statements: str) -> None:
    for statement in statements.split(";\n"):
        connection.execute(statement)


def _version(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])


def _use_wal(connection: sqlite3.Connection) -> None:
    # SQLite does not wait when two processes switch a new file to WAL at once.
    for attempt in range(WAL_ATTEMPTS):
        try:
            connection.execute("PRAGMA journal_mode = WAL")
        except sqlite3.OperationalError as error:
            if attempt == WAL_ATTEMPTS - 1 or "locked" not in str(error):
                raise
            time.sleep(WAL_PAUSE_S)
        else:
            return
