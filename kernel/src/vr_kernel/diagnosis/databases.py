"""Checks of the files that hold records, results and jobs, and of what waits in them."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from pathlib import Path

from vr_kernel.config.paths import Paths
from vr_kernel.health import Check, Diagnosis
from vr_kernel.journal.dead_letters import FORMER_FILE, FORMER_TABLE, NAMESPACE
from vr_kernel.state.sqlite.counting import count_interrupted, count_rows
from vr_kernel.state.sqlite.journal.examination import examine_journal
from vr_kernel.storage.database_faults import FAULTS, wording
from vr_kernel.storage.database_health import examine_file, is_no_damage
from vr_kernel.stores import refill_command

_DOCUMENTS = {
    "record": ("fields", "provenance"),
    "former": ("fields", "provenance"),
    "job": ("arguments", "result", "error"),
    "entry": ("value",),
}
_REMADE = "Nothing is lost: it is set aside and created again when it is next used."


def database_checks(paths: Paths, lease_s: float, store: str = "embedded") -> list[Check]:
    """The checks of all databases; `lease_s` and the name of the store as configured."""
    journal, ledger, usage = paths.journal, paths.state / "jobs.db", paths.state / "usage.db"
    restore = (
        f"Stop all servers. Restore {journal} from a backup; or move it away, with its -wal and"
        f" -shm: {_what_is_left(store)}"
    )
    moved = (
        f"Stop all servers. Restore {ledger} from a backup; or move it away, with its -wal and"
        " -shm: unfinished jobs are lost then, records are not."
    )
    kept = (
        "It is set aside and created again when it is next used; what plugins kept in it, such as"
        f" conversations, is gone then. To keep it, stop all servers and restore {paths.rows} from"
        " a backup."
    )
    begun = "It is set aside and created again when it is next used; earlier calls are not counted."
    looks: dict[str, Callable[[], Diagnosis]] = {
        "journal": partial(examine_file, journal, restore, table="record", documents=_DOCUMENTS),
        "job ledger": partial(examine_file, ledger, moved, table="job", documents=_DOCUMENTS),
        "usage ledger": partial(examine_file, usage, begun, Diagnosis.warning, table="attempt"),
        "rows": partial(
            examine_file, paths.rows, kept, Diagnosis.warning, table="entry", documents=_DOCUMENTS
        ),
        "vectors": _remade(paths.state / "vectors.db", "vector"),
        "result cache": _remade(paths.cache / "results.db", "result"),
        "digest cache": _remade(paths.cache / "digests.db", "digest"),
        "jobs": partial(interrupted_jobs, ledger, lease_s),
        "refused records": partial(refused_records, paths),
    }
    looks["journal"] = partial(examine_journal, paths, looks["journal"], store)
    return [Check(name, look) for name, look in looks.items()]


def _what_is_left(store: str) -> str:
    if command := refill_command(store):
        return f"`{command}` then records what the store has."
    return "what the store has is still found then."


def _remade(path: Path, table: str) -> Callable[[], Diagnosis]:
    return partial(examine_file, path, _REMADE, Diagnosis.warning, table=table)


def refused_records(paths: Paths) -> Diagnosis:
    """Check for records that a store would not take, which are then not found."""
    former = paths.state / FORMER_FILE  # of an earlier version, until it is taken over
    try:
        count = count_rows(paths.rows, NAMESPACE) + count_rows(former, table=FORMER_TABLE)
    except FAULTS as error:
        return _uncounted(error, "rows")
    if not count:
        return Diagnosis.ok("There are none.")
    return Diagnosis.warning(
        f"A store would not take {count} records: they are kept, but not found.",
        "See `vr store failed`, then `vr store retry` or `vr store drop`.",
    )


def interrupted_jobs(ledger: Path, lease_s: float) -> Diagnosis:
    """Check for jobs whose process died and that no other has resumed."""
    if not ledger.exists():
        return Diagnosis.ok("There are none yet.")
    try:
        count = count_interrupted(ledger, lease_s)
    except FAULTS as error:
        return _uncounted(error, "job ledger")
    if not count:
        return Diagnosis.ok("No job is interrupted.")
    return Diagnosis.warning(
        f"Jobs that were interrupted and wait to be taken up: {count}.",
        "`vr job list` shows them; `vr job result ID` or a server goes on with one.",
    )


def _uncounted(error: Exception, check: str) -> Diagnosis:
    if is_no_damage(error):  # that check says what to do
        return Diagnosis.ok(f"Not counted: {wording(error)}.")
    return Diagnosis.warning(
        f"They cannot be counted: {wording(error)}.", f"See the {check} above."
    )
