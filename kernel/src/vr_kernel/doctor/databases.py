"""The files that hold records, results and jobs: whole, and nothing in them left lying."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager
from functools import partial
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.health import Check, Diagnosis
from vr_kernel.jobs.rows import SHOWN

BUDGET_S = 1.0
"""How long one file is looked through; a large one is then known in part."""
STEPS = 20_000
"""Instructions of SQLite between two looks at the clock, a few milliseconds."""
BYTES_PER_MB = 1_000_000
_REMADE = "Nothing is lost: it is set aside and made anew when it is next used."


def database_checks(paths: Paths, lease_s: float) -> list[Check]:
    """The checks of all databases; `lease_s` as configured."""
    journal = paths.journal
    restore = f"Restore {journal} from a backup, or move it away to start a new one."
    ledger = paths.state / "jobs.db"
    lasting = {
        "journal": (journal, restore),
        "job ledger": (ledger, f"Move {ledger} away: unfinished jobs are lost, records are not."),
    }
    disposable = {
        "usage ledger": paths.state / "usage.db",
        "uploads": paths.state / "gemini.db",
        "refusals": paths.state / "refused.db",
        "vectors": paths.state / "vectors.db",
        "result cache": paths.cache / "results.db",
        "digest cache": paths.cache / "digests.db",
    }
    looks = {
        **{n: partial(whole, path, Diagnosis.fault, fix) for n, (path, fix) in lasting.items()},
        **{n: partial(whole, path, Diagnosis.warning, _REMADE) for n, path in disposable.items()},
        "jobs": partial(interrupted_jobs, ledger, lease_s),
        "refused records": partial(refused_records, paths.state / "refused.db"),
    }
    return [Check(name, look) for name, look in looks.items()]


def whole(path: Path, otherwise: Callable[[str, str], Diagnosis], fix: str) -> Diagnosis:
    """Whether SQLite finds no damage in a file, as far as it comes in `BUDGET_S`."""
    if not path.exists():
        return Diagnosis.ok("There is none yet.")
    text = f"{path.name}, {path.stat().st_size / BYTES_PER_MB:.1f} MB"
    end = time.monotonic() + BUDGET_S
    try:
        with reading(path) as connection:
            connection.set_progress_handler(lambda: time.monotonic() > end, STEPS)
            found = [row[0] for row in connection.execute("PRAGMA quick_check(1)")]
    except (sqlite3.Error, UnicodeDecodeError) as error:
        name = getattr(error, "sqlite_errorname", "")
        if name == "SQLITE_INTERRUPT":
            return Diagnosis.ok(f"{text}, sound as far as it was read in {BUDGET_S:.0f} s.")
        if name.startswith(("SQLITE_BUSY", "SQLITE_LOCKED")):
            return Diagnosis.ok(f"{text}, in use by another process.")
        return otherwise(f"{path} cannot be read: {error}.", fix)
    if found == ["ok"]:
        return Diagnosis.ok(f"{text}, sound.")
    return otherwise(f"{path} is damaged: {found[0] if found else 'no answer'}.", fix)


def refused_records(file: Path) -> Diagnosis:
    """Whether a store would not take records, which are then not found."""
    if not file.exists():
        return Diagnosis.ok("There are none.")
    try:
        with reading(file) as connection:
            (count,) = connection.execute("SELECT count(*) FROM refused").fetchone()
    except sqlite3.Error as error:
        return Diagnosis.warning(f"They cannot be counted: {error}.", "See the refusals above.")
    if not count:
        return Diagnosis.ok("There are none.")
    return Diagnosis.warning(
        f"A store would not take {count} records: they are kept, but not found.",
        "See `vr store failed`, then `vr store retry` or `vr store drop`.",
    )


def interrupted_jobs(ledger: Path, lease_s: float) -> Diagnosis:
    """Whether a process died over a job that nobody has taken up."""
    if not ledger.exists():
        return Diagnosis.ok("There are none yet.")
    query = f"SELECT count(*) FROM job WHERE {SHOWN} = 'interrupted'"  # noqa: S608 - constant text
    try:
        with reading(ledger) as connection:
            values = {"now": time.time(), "lease_s": lease_s}
            (count,) = connection.execute(query, values).fetchone()
    except sqlite3.Error as error:
        return Diagnosis.warning(f"They cannot be counted: {error}.", "See the job ledger above.")
    if not count:
        return Diagnosis.ok("No job is interrupted.")
    return Diagnosis.warning(
        f"Jobs that were interrupted and wait to be taken up: {count}.",
        "`vr job list` shows them; `vr job result ID` or a server goes on with one.",
    )


@contextmanager
def reading(path: Path) -> Iterator[sqlite3.Connection]:
    """The file, open for looking only; it is never made."""
    # Not mode=ro: such a connection leaves the files of the write-ahead log behind.
    address = f"{path.resolve().as_uri()}?mode=rw"
    with closing(sqlite3.connect(address, uri=True, timeout=BUDGET_S)) as connection:
        connection.execute("PRAGMA query_only=ON")
        yield connection
