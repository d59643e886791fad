"""Checks of `vr doctor`: the store's file can be read, and is up to date."""

from __future__ import annotations

import asyncio
import sqlite3
import time
from collections.abc import Callable
from contextlib import suppress
from functools import partial
from pathlib import Path
from typing import TypeVar

from vr_kernel import Check, Code, Diagnosis, Services, VrError
from vr_kernel.storage import (
    FAULTS,
    is_damage,
    is_no_damage,
    is_sound,
    reading,
    require_free,
    shown_key,
    unreadable,
    wording,
)

from vr_plugin_knowledge.embedded_store.backlog import Missing
from vr_plugin_knowledge.embedded_store.items import STORED
from vr_plugin_knowledge.embedded_store.positions import read_positions
from vr_plugin_knowledge.embedded_store.refused_rebuild import BOTH_LOST
from vr_plugin_knowledge.embedded_store.schema import VERSION
from vr_plugin_knowledge.embedded_store.store import FILE_NAME
from vr_plugin_knowledge.embedded_store.writer import checksum

T = TypeVar("T")
WAYS_OUT = (
    "Put the right journal.db back; or `vr knowledge migrate --from embedded` fills it from"
    " the store; or `vr store begin-anew` gives up what only the store has."
)
ROWS = 50
CHECK_S, STEPS = 1.0, 20_000
"""Seconds for checking the file; instructions of SQLite between two checks of the time."""
MOST_VECTORS = 200_000
"""Vectors of one kind in one workspace: more are too slow to compare and take too much memory."""
NO_HELP = f"The journal is no help; see `journal`. {BOTH_LOST}"
NOT_TRIED = "Not tried: the store file cannot be read."
NONE_YET = "There is none yet; it is made with the first record."


def store_checks(services: Services) -> list[Check]:
    """The checks of the embedded store. They read its file, and never make or change it."""
    path = services.paths.state / FILE_NAME

    async def behind() -> Diagnosis:
        if not path.exists():
            return Diagnosis.ok(NONE_YET)
        try:
            positions = await asyncio.to_thread(_read, path, read_positions)
        except VrError:
            return Diagnosis.ok(NOT_TRIED)
        journal = services.paths.journal
        if not journal.exists() or not journal.stat().st_size:
            return lag(-positions[0].seq)
        waiting = await services.journal.count(positions[0].seq)
        if await services.journal.continuity.lacks_any(positions):
            loss = await services.journal.continuity.look()
            return lag(-1, loss.ways_out if loss else WAYS_OUT)
        return lag(waiting)

    def without_vector() -> Diagnosis:
        if not services.vectors.available():
            return Diagnosis.ok("No embedder is installed, so there are none.")
        if not path.exists():
            return Diagnosis.ok(NONE_YET)
        with suppress(VrError):
            return vectors(_read(path, Missing(services.vectors.embedder_id, 0).count))
        return Diagnosis.ok(NOT_TRIED)

    return [
        Check("store file", partial(_examine, services, path)),
        Check("store and journal", behind),
        Check("store vectors", without_vector),
        Check("store size", lambda: size(path)),
    ]


async def _examine(services: Services, path: Path) -> Diagnosis:
    """As `readable`, with a hint for the case that the journal is incomplete, too."""
    return await asyncio.to_thread(readable, path, whole=await _is_whole(services))


async def _is_whole(services: Services) -> bool:
    """True when the store can be rebuilt from the journal; makes no journal."""
    journal = services.paths.journal
    if not journal.exists() or not journal.stat().st_size:
        return False
    with suppress(VrError):
        await services.journal.last_seq()
        return services.journal.continuity.refusal is None
    return False


def readable(path: Path, *, whole: bool = True) -> Diagnosis:
    """Check that the file has the layout of this version, and no damage that reads may miss.

    An index that lacks rows is such damage: nothing that is found is wrong, but something is
    missing. `whole` says that the journal can rebuild the store.
    """
    if not path.exists():
        return Diagnosis.ok(NONE_YET)
    try:
        with reading(path) as connection:
            found = _examined(path, connection, whole=whole)
            if found.level == "ok":
                require_free(connection)
            return found
    except FAULTS as error:
        if is_no_damage(error):
            return unreadable(path, error)
        if is_damage(error) and not whole:
            return Diagnosis.fault(f"{path.name} is damaged: {wording(error)}.", NO_HELP)
        raise _unusable(path, error) from None


def _examined(path: Path, connection: sqlite3.Connection, *, whole: bool) -> Diagnosis:
    if (version := _layout(connection)) != VERSION:
        return Diagnosis.warning(
            f"{path.name} has layout {version}, this version has {VERSION}.",
            "It is rebuilt from the journal by the next `vr knowledge stats`."
            if whole
            else NO_HELP,
        )
    if found := _damage(connection) or _damaged_item(connection):
        return Diagnosis.fault(
            f"{path.name} is damaged, and may not find everything: {found}.",
            f"Stop all servers and move {path} away, with its -wal and -shm: it is rebuilt from"
            " the journal."
            if whole
            else NO_HELP,
        )
    return Diagnosis.ok(f"{path.name}, {path.stat().st_size / 1_000_000:.1f} MB.")


def lag(changes: int, ways_out: str = WAYS_OUT) -> Diagnosis:
    """Check that everything in the journal has reached the store."""
    if changes == 0:
        return Diagnosis.ok("All that was recorded is in the store.")
    if changes < 0:
        return Diagnosis.fault(
            "The store has what the journal lacks, which was emptied, lost or replaced.",
            ways_out,
        )
    return Diagnosis.warning(
        f"Changes of the journal that the store does not have yet: {changes}.",
        "`vr knowledge stats` or a running server carries them over, or says why not.",
    )


def vectors(missing: int) -> Diagnosis:
    """Check that every text has a vector, so that it is found by meaning."""
    if not missing:
        return Diagnosis.ok("Every text has its vector.")
    return Diagnosis.warning(
        f"Texts that are found by keyword alone, without a vector: {missing}.",
        "They get one while a server or `vr knowledge search` runs.",
    )


def size(path: Path) -> Diagnosis:
    """Check that the embedded store is not too large."""
    if not path.exists():
        return Diagnosis.ok(NONE_YET)
    try:
        kind, count = _read(path, _largest)
    except VrError:
        return Diagnosis.ok(NOT_TRIED)
    if count <= MOST_VECTORS:
        return Diagnosis.ok(f"At most {count:,} records of one kind.")
    return Diagnosis.warning(
        f"{kind} has {count:,} records; the embedded store is made for {MOST_VECTORS:,} of a kind.",
        "Start a Weaviate server, fill it with `vr knowledge migrate --to weaviate`, then set"
        " VR_STORE__BACKEND=weaviate.",
    )


def _read(path: Path, work: Callable[[sqlite3.Connection], T]) -> T:
    try:
        with reading(path) as connection:
            return work(connection)
    except FAULTS as error:
        raise _unusable(path, error) from None


def _unusable(path: Path, error: BaseException) -> VrError:
    return VrError(
        f"The knowledge base {path} cannot be read: {wording(error)}.",
        Code.UNAVAILABLE,
        category="STORE_UNAVAILABLE",
        hint="If it is damaged, the next `vr knowledge stats` rebuilds it from the journal;"
        " otherwise check its permissions.",
    )


def _damage(connection: sqlite3.Connection) -> str:
    """The first damage that SQLite finds within the time limit; empty for none."""
    end = time.monotonic() + CHECK_S
    connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
    try:
        (said,) = connection.execute("PRAGMA integrity_check(1)").fetchone()
    except sqlite3.OperationalError as error:
        if getattr(error, "sqlite_errorname", "") == "SQLITE_INTERRUPT":
            return ""
        raise
    return "" if said == "ok" else " ".join(str(said).split())


def _damaged_item(connection: sqlite3.Connection) -> str:
    """The key of a damaged record, if one is found within the time limit; else empty."""
    end = time.monotonic() + CHECK_S
    rows = connection.execute(f"SELECT {STORED} FROM item i")  # noqa: S608 - constant columns
    while (batch := rows.fetchmany(ROWS)) and time.monotonic() < end:
        for key, fields, provenance, kept in batch:
            texts = (key, fields, provenance)
            if not is_sound(texts, (str,) * 3) or checksum(*texts) != kept:
                return f"a record is not what was written: item {shown_key(key)}"
    return ""


def _largest(connection: sqlite3.Connection) -> tuple[str, int]:
    """The kind that has most records in one workspace, and their number."""
    row = connection.execute("SELECT kind, items FROM scope ORDER BY items DESC LIMIT 1").fetchone()
    return (str(row[0]), int(row[1])) if row else ("", 0)


def _layout(connection: sqlite3.Connection) -> int:
    return int(connection.execute("PRAGMA user_version").fetchone()[0])
