"""The journal: every record in order, the source that stores index."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Callable, Collection, Mapping, Sequence
from contextlib import suppress
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.journal.rows import HISTORY, RECORDS, Entry, highest_seq
from vr_kernel.records import Change
from vr_kernel.storage.kept_database import KeptDatabase

if TYPE_CHECKING:
    from vr_kernel.journal.continuity import JournalContinuity
    from vr_kernel.journal.undeclared import Undeclared
    from vr_kernel.records import RecordKind

_ENCODER = json.JSONEncoder(ensure_ascii=False)


class JournalFile:
    """Records by (workspace, kind, key), each under the sequence number of its last change.

    A commit survives the loss of the process and of power; writing a key again moves it to
    a new, higher number, so that a store that reads on from its cursor sees every change.
    """

    def __init__(
        self,
        path: Path,
        tell: Callable[[VrError], None] = lambda _error: None,
        ledger: KeptDatabase | None = None,
        store: Callable[[], str] = lambda: "embedded",
    ) -> None:
        """`ledger` keeps what identifies this file; `tell` is called with what this file lacks.

        `store` names the store that may have it.
        """
        self.path, self._ledger, self._tell, self._store = path, ledger, tell, store
        how: Any = {"tell": tell, "patience": None if ledger is None else ledger.patience}
        self._database = KeptDatabase(path, RECORDS + HISTORY, synchronous="FULL", **how)
        self._continuity: JournalContinuity | None = None
        self.holds = self._database.holds

    @property
    def continuity(self) -> JournalContinuity:
        """Notices when the file lacks what it had, and knows which store follows it."""
        if self._continuity is None:
            from vr_kernel.journal.continuity import JournalContinuity

            self._continuity = JournalContinuity(
                self._database, self._ledger, self._tell, self._store()
            )
        return self._continuity

    async def commit(
        self,
        entries: Sequence[Entry],
        *,
        workspace: str,
        provenance: Mapping[str, Any],
        paid: bool = False,
    ) -> int:
        """Write all entries or none, and return the highest sequence number.

        `provenance` applies to all entries and overrides that of an entry. Entries that were `paid`
        for are held in memory while there is no room for them; see `holds`.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        from vr_kernel.journal.writing import put_entries

        created_at = datetime.now(UTC).isoformat(timespec="microseconds")
        common = _ENCODER.encode({**provenance})
        rows = [
            (
                workspace,
                entry.kind,
                entry.key,
                _dump(entry.fields),
                _ENCODER.encode({**entry.provenance, **provenance}) if entry.provenance else common,
                created_at,
            )
            for entry in entries
        ]

        work = partial(put_entries, entries=entries, rows=rows)
        return await self.continuity.write(work, paid=paid)

    async def check(self) -> None:
        """Check that records can be written now; writes only what the first record needs.

        Raises:
            VrError: UNAVAILABLE when they could not.
        """
        await self.continuity.attended()
        await self._database.run(lambda _connection: None)

    async def changes(self, after: int, limit: int = 500) -> list[Change]:
        """Up to `limit` changes with a sequence number above `after`, rising.

        Damaged ones are left out and reported.
        """
        from vr_kernel.journal.reading import read_after

        leave_out = self._database.leave_out
        return await self.continuity.read(
            partial(read_after, after=after, limit=limit, leave_out=leave_out)
        )

    async def keys(self, kind: str, workspace: str) -> list[str]:
        """The keys of all records of a kind, sorted."""
        from vr_kernel.journal.reading import read_keys

        return await self.continuity.read(partial(read_keys, kind=kind, workspace=workspace))

    async def has(self, workspace: str, records: Collection[tuple[str, str]]) -> bool:
        """True when all of these records, as kind and key, exist and none is deleted."""
        from vr_kernel.journal.presence import present

        return await self.continuity.read(partial(present, workspace=workspace, records=records))

    async def touch(self, records: Sequence[tuple[str, str, str]]) -> None:
        """Give records, as workspace, kind and key, new sequence numbers: stores see them again.

        Raises:
            VrError: UNAVAILABLE when the journal cannot be written.
        """
        from vr_kernel.journal.writing import renumber

        await self.continuity.write(partial(renumber, records=records))

    async def continue_after(self, cursor: int) -> None:
        """Give every record a number above `cursor`, for a store that is ahead of this journal."""
        from vr_kernel.journal.writing import shift

        await self.continuity.write(partial(shift, cursor=cursor))

    async def former(self, workspace: str, kind: str, key: str) -> list[Change]:
        """Former versions of a record, the latest first, for kinds that keep a history."""
        from vr_kernel.journal.reading import read_former

        place, leave_out = (workspace, kind, key), self._database.leave_out
        return await self.continuity.read(partial(read_former, place=place, leave_out=leave_out))

    async def undeclared(self, workspace: str, kinds: Collection[str]) -> list[Undeclared]:
        """Count the records of kinds that are not among these: their plugins are not loaded."""
        from vr_kernel.journal.undeclared import undeclared

        return await self.continuity.read(partial(undeclared, workspace=workspace, known=kinds))

    async def forget_former(self, workspace: str, before: str, kind: str | None = None) -> int:
        """Delete former versions made before that moment, of one kind or all; returns how many."""
        from vr_kernel.journal.writing import forget_before

        return await self._database.run(
            partial(forget_before, workspace=workspace, before=before, kind=kind)
        )

    async def fold(self, kinds: Sequence[RecordKind]) -> None:
        """Move records that were kept one by one under the key of their subject.

        For kinds that keep a history; done once per kind.
        """
        from vr_kernel.journal.writing import fold

        def read(connection: sqlite3.Connection) -> set[str]:
            return {kind for (kind,) in connection.execute("SELECT kind FROM folded")}

        asked = [kind for kind in kinds if kind.history]
        done = await self.continuity.read(read) if asked else set()
        for kind in asked:
            if kind.name not in done:  # nothing is written when there is nothing to fold
                await self.continuity.write(partial(fold, kind=kind.name, key_of=kind.identify))

    async def home(self) -> str:
        """The state folder in which this journal was begun, wherever the journal is now.

        Cache keys of results that belong to its records contain it: they are found again after a
        folder was moved or restored, and also after the journal was lost.
        """
        here = str(self.path.parent)
        if not self.path.exists():
            return here
        with suppress(VrError):
            return await self.continuity.home()
        return here

    async def last_seq(self) -> int:
        """The highest sequence number given out, 0 for an empty journal."""
        return await self.continuity.read(highest_seq)

    async def count(self, after: int = 0) -> int:
        """Count the records and deletions with a sequence number above `after`."""
        where = "WHERE seq > ?" if after else "WHERE ? = 0"  # without a limit an index counts
        sql = f"SELECT count(*) FROM record {where}"  # noqa: S608 - constant text
        return await self.continuity.read(lambda it: int(it.execute(sql, (after,)).fetchone()[0]))

    @property
    def unwritable(self) -> bool:
        """True when it is read in a folder where nothing may be written."""
        return self._database.unwritable

    @property
    def left_out(self) -> int:
        """Number of damaged rows found so far; none of them reached a store."""
        return self._database.left_out

    async def aclose(self) -> None:
        """Save the journal's position in the ledger, and close the file."""
        if self._continuity is not None:
            with suppress(VrError):  # a damaged journal was reported when it was used
                await self._continuity.close()
        self.close()

    def close(self) -> None:
        """Close the file."""
        self._database.close()


def _dump(fields: Mapping[str, Any] | None) -> str | None:
    return None if fields is None else _ENCODER.encode(fields)
