"""Findings of `vr doctor` about a SQLite file: whole, damaged, or with damaged rows."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator, Mapping
from contextlib import closing, contextmanager
from pathlib import Path

from vr_kernel.health import Diagnosis
from vr_kernel.storage.database_errors import explained
from vr_kernel.storage.database_faults import (
    FAULTS,
    is_busy,
    is_damage,
    is_newer,
    is_passing,
    require_own,
    wording,
)
from vr_kernel.storage.read_only import address_to_look, has_room
from vr_kernel.storage.sound_rows import is_sound, read_text, shown_key

BUDGET_S = 1.0
"""Seconds for checking one file, and as many for its rows; a large one is checked in part."""
HELD_S = 2.0
"""Seconds that another process may hold a file before that is reported."""
STEPS = 20_000
"""Instructions of SQLite between two checks of the clock: a few milliseconds."""
BYTES_PER_MB = 1_000_000
ROWS = 50
"""Rows between two checks of the clock."""
MOST_NAMED = 5
_AT_ODDS = "is damaged: SQLite finds its pages at odds"
_NOTHING = type(None)
_TYPES: Mapping[str, tuple[type, ...]] = {
    "TEXT": (str,),
    "INTEGER": (int,),
    "REAL": (float, int),
    "BLOB": (bytes,),
}
Documents = Mapping[str, tuple[str, ...]]
"""Columns that hold JSON, by table."""


def examine_file(
    path: Path,
    fix: str,
    otherwise: Callable[[str, str], Diagnosis] = Diagnosis.fault,
    *,
    table: str = "",
    documents: Documents | None = None,
) -> Diagnosis:
    """Check a file and its rows; it is neither created nor changed.

    Args:
        path: the file.
        fix: what to do when the file is damaged, and not only some of its rows.
        otherwise: makes the finding about damage.
        table: one that every such file has.
        documents: see `Documents`.
    """
    if not path.exists():
        return Diagnosis.ok("There is none yet.")
    size = path.stat().st_size
    if not size:
        return Diagnosis.warning(
            f"{path.name} is empty: nothing is kept there, or it was just made.",
            f"If it held something, restore {path} from a backup.",
        )
    text = f"{path.name}, {size / BYTES_PER_MB:.1f} MB"
    try:
        with reading(path) as connection:
            if table:
                require_own(connection, f"CREATE TABLE IF NOT EXISTS {table} ();")
            whole, rows = _found(connection, documents or {})
            if whole and not rows:
                require_free(connection)
    except FAULTS as error:
        if is_no_damage(error) or is_newer(error):
            return unreadable(path, error)
        how = "is damaged, or another program's file" if is_damage(error) else "cannot be read"
        return otherwise(f"{path} {how}: {wording(error)}.", fix)
    if rows:
        named = ", ".join(rows[:MOST_NAMED]) + ("…" if len(rows) > MOST_NAMED else "")
        what = f"{path} has damaged rows, which are left out: {named}."
        return otherwise(what, "All others are there. To have these again, restore a backup.")
    return Diagnosis.ok(f"{text}, {whole}.") if whole else otherwise(f"{path} {_AT_ODDS}.", fix)


def is_no_damage(error: BaseException) -> bool:
    """True when a file cannot be used now, but may be sound."""
    return is_passing(error) and not is_damage(error)


def unreadable(path: Path, error: BaseException) -> Diagnosis:
    """Say why a file cannot be used now.

    A folder without room is a separate finding, so it is not repeated for each file.
    """
    if not is_busy(error) and not has_room(path.parent):
        return Diagnosis.ok(f"{path.name} is not examined: there is no room in {path.parent}.")
    told = explained(path, error)
    return Diagnosis.fault(told.message, told.hint)


def require_free(connection: sqlite3.Connection) -> None:
    """Fail when another process holds a file too long, which readers would not notice.

    Raises:
        sqlite3.OperationalError: when one does.
    """
    connection.execute(f"PRAGMA busy_timeout={HELD_S * 1000:.0f}")
    connection.execute("PRAGMA query_only=OFF")
    connection.execute("BEGIN IMMEDIATE")
    connection.rollback()


def _found(connection: sqlite3.Connection, documents: Documents) -> tuple[str, list[str]]:
    """Say how far the file is sound, empty if not at all, and name the damaged rows."""
    found, whole = _pages(connection)
    if found:
        return "", []
    end = time.monotonic() + BUDGET_S
    rows = _damaged_rows(connection, documents, end)
    far = "" if whole and time.monotonic() < end else f" as far as it was read in {BUDGET_S:.0f} s"
    return f"sound{far}", rows


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """Open the file for reading only; it is never created."""
    address = address_to_look(path)
    with closing(sqlite3.connect(address, uri=True, timeout=BUDGET_S)) as connection:
        connection.text_factory = read_text
        connection.execute("PRAGMA query_only=ON")
        yield connection


def _pages(connection: sqlite3.Connection) -> tuple[bool, bool]:
    """Say if SQLite finds damage, and if the check was completed."""
    end = time.monotonic() + BUDGET_S
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    try:
        found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") != "SQLITE_INTERRUPT":
            raise
        return False, False
    finally:
        connection.set_progress_handler(None, STEPS)
    return found != ["ok"], True


def _damaged_rows(connection: sqlite3.Connection, documents: Documents, end: float) -> list[str]:
    """Table and key of rows that do not fit their table's declaration, within the time limit."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table' AND sql LIKE 'CREATE TABLE %'"
    tables = [name for (name,) in connection.execute(query)]
    found: list[str] = []
    for table in tables:
        if not table.startswith("sqlite_"):
            found += _damaged_of(connection, table, documents.get(table, ()), end)
    return found


def _damaged_of(
    connection: sqlite3.Connection, table: str, documents: tuple[str, ...], end: float
) -> list[str]:
    columns = connection.execute(f'PRAGMA table_info("{table}")').fetchall()
    declared = [(name, kind, needed) for _, name, kind, needed, _, _ in columns if kind in _TYPES]
    keys = [name for _, name, *_, key in columns if key] or ["rowid"]
    types = [_TYPES[kind] if needed else (*_TYPES[kind], _NOTHING) for _, kind, needed in declared]
    names = ", ".join(f'"{name}"' for name in [*keys, *(name for name, *_ in declared)])
    valid = [f'("{name}" IS NULL OR json_valid("{name}"))' for name in documents]
    rows = connection.execute(
        f'SELECT {names}, {" AND ".join(valid) or "1"} FROM "{table}"'  # noqa: S608 - names of our own
    )
    found: list[str] = []
    while (batch := rows.fetchmany(ROWS)) and time.monotonic() < end and len(found) <= MOST_NAMED:
        found += [
            f"{table} {shown_key(row[: len(keys)])}"
            for row in batch
            if not (row[-1] and is_sound(row[len(keys) : -1], types))
        ]
    return found


def journal_mode(path: Path) -> str:
    """The journal mode of a new file that asks for a write-ahead log, or why it has none."""
    with closing(sqlite3.connect(path)) as connection:
        try:
            mode = str(connection.execute("PRAGMA journal_mode=WAL").fetchone()[0])
            connection.execute("CREATE TABLE probe (value)")
        except sqlite3.Error as error:
            return str(error)
    return mode
