"""Check of the journal: whole, and the one this state folder had, with all its records."""

from __future__ import annotations

import sqlite3
from collections.abc import Callable
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.health import Diagnosis
from vr_kernel.state.journal import Position
from vr_kernel.state.sqlite.journal.known import read_known
from vr_kernel.state.sqlite.journal.lineage import Lineage
from vr_kernel.state.sqlite.journal.loss import find_loss, ways_out
from vr_kernel.storage.database_health import is_no_damage, reading


def examine_journal(paths: Paths, sound: Callable[[], Diagnosis], store: str) -> Diagnosis:
    """Check that the journal has all that was recorded, then return what `sound` finds.

    `store` names the store that may have what the journal lacks.
    """
    ways = ways_out(store)
    path, known = paths.journal, _known(paths.state / "jobs.db")
    most = max((each.seq for each in known), default=0)
    gone = "deleted" if not path.exists() else "" if path.stat().st_size else "emptied"
    if gone and most:
        return Diagnosis.fault(f"{path} was {gone}; {most:,} changes were in it.", ways)
    found = sound()
    if gone or found.level == "fault" or not known:
        return found
    try:
        with reading(path) as connection:
            loss = find_loss(Lineage(connection), known, store)
    except sqlite3.Error as error:
        if is_no_damage(error):
            return found
        # The journal is of an earlier version, which recorded no lineage.
        return Diagnosis.fault(f"{path} is not the journal that was here.", ways)
    return Diagnosis.fault(loss.what, loss.ways_out) if loss else found


def _known(ledger: Path) -> list[Position]:
    if not ledger.exists():
        return []
    try:
        with reading(ledger) as connection:
            return read_known(connection)
    except (sqlite3.Error, UnicodeDecodeError):  # damaged, or of an earlier version
        return []
