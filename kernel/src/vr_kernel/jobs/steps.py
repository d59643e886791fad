"""Paid replies, committed before they are returned, so that nothing is paid twice after a crash."""

from __future__ import annotations

import asyncio
import hashlib
import json
import sqlite3
import time
from collections.abc import Awaitable, Callable, Sequence
from contextlib import suppress
from functools import partial
from typing import Any, NamedTuple

from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.lease import Lease, is_owner, lease_lost
from vr_kernel.jobs.ledger import complete, settle
from vr_kernel.storage.kept_database import KeptDatabase


class _Place(NamedTuple):
    """Place of a reply."""

    scope: str
    key: str
    version: str


class Steps:
    """Replies of steps, JSON values by scope (a piece of work), key (a step) and version.

    A damaged reply counts as missing, and is paid for again. Replies of several versions are kept
    side by side. While there is no disk space for a reply, it is kept in memory, and found there.
    """

    def __init__(self, database: KeptDatabase) -> None:
        self._database = database

    async def find(self, scope: str, key: str, version: str = "") -> Any | None:
        """The committed reply; None when there is none, or when the reply was None.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        found = await self._find(_Place(scope, key, version))
        return found[0] if found else None

    async def commit(
        self, scope: str, key: str, reply: Any, *, version: str = "", lease: Lease | None = None
    ) -> Any:
        """Keep a reply and return the valid one: the first that was committed.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another owner took the lease. The reply is
                kept anyway, since it was paid for; UNAVAILABLE when the ledger cannot be written.
        """
        place = _Place(scope, key, version)

        def write(connection: sqlite3.Connection) -> tuple[Any, bool]:
            found = self._read(place, connection) or (_write(place, reply, connection),)
            return found[0], lease is None or is_owner(connection, lease)

        kept, owned = await complete(self._database.keep(write, (reply, True)))
        if lease is not None and not owned:
            lease.over = True
            raise lease_lost(lease)
        return kept

    async def _require_writable(self, lease: Lease | None) -> None:
        """Refuse a step that cannot be committed, or that another process owns by now."""
        if lease is not None:
            lease.check()
        owned = await self._database.run(lambda it: lease is None or is_owner(it, lease))
        if lease is not None and not owned:
            lease.over = True
            raise lease_lost(lease)

    async def run(
        self,
        scope: str,
        key: str,
        work: Callable[[], Awaitable[Any]],
        *,
        version: str = "",
        lease: Lease | None = None,
    ) -> Any:
        """The committed reply of a step, or the result of `work`, which is then committed.

        `work` runs as a task of its own: a reply that arrived is committed even when the
        caller is cancelled at that moment; one that did not arrive is cancelled.

        Raises:
            VrError: as `commit`; LEASE_LOST too before any work when the lease is lost, and
                UNAVAILABLE when the ledger cannot be written.
        """
        found = await self._find(_Place(scope, key, version))
        if found:
            return found[0]
        await self._require_writable(lease)
        working = asyncio.ensure_future(PluginCode.ended(work()))
        cancellation = await settle(working, pass_on=True)
        if cancellation is None:
            return await self.commit(scope, key, working.result(), version=version, lease=lease)
        if not working.cancelled() and working.exception() is None:
            with suppress(VrError):
                await self.commit(scope, key, working.result(), version=version)
        raise cancellation

    async def forget(self, scope: str) -> None:
        """Remove all replies of a piece of work.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """

        def delete(connection: sqlite3.Connection) -> None:
            connection.execute("DELETE FROM step WHERE scope = ?", (scope,))

        await self._database.run(delete)

    async def drop(self, scope: str, keys: Sequence[str], version: str = "") -> None:
        """Remove replies of single steps, so that they are requested again.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """

        def delete(connection: sqlite3.Connection) -> None:
            connection.executemany(
                "DELETE FROM step WHERE scope = ? AND key = ? AND version = ?",
                [(scope, key, version) for key in keys],
            )

        await self._database.run(delete)

    async def prune(self, older_than_s: float) -> int:
        """Remove replies older than that many seconds; returns how many.

        Those of a job stay: `Jobs.prune` removes them with their job.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be written.
        """

        def delete(connection: sqlite3.Connection) -> int:
            return connection.execute(
                "DELETE FROM step WHERE committed_at < ?"
                " AND scope NOT IN (SELECT 'job/' || id FROM job)",
                (time.time() - older_than_s,),
            ).rowcount

        return await self._database.run(delete)

    async def _find(self, place: _Place) -> tuple[Any] | None:
        return await self._database.look(partial(self._read, place))

    def _read(self, place: _Place, connection: sqlite3.Connection) -> tuple[Any] | None:
        row = connection.execute(
            "SELECT CAST(checksum AS BLOB), CAST(reply AS BLOB) FROM step"
            " WHERE scope = ? AND key = ? AND version = ?",
            place,
        ).fetchone()
        if row is None:
            return None
        checksum, text = row
        if checksum != _checksum(place, text):
            self._database.leave_out("step", place[:2])
            return None
        return (json.loads(text),)


def _write(place: _Place, reply: Any, connection: sqlite3.Connection) -> Any:
    text = json.dumps(reply, separators=(",", ":")).encode()
    row = (*place, time.time(), _checksum(place, text), text)
    connection.execute("INSERT OR REPLACE INTO step VALUES (?,?,?,?,?,?)", row)
    return json.loads(text)


def _checksum(place: _Place, text: bytes) -> bytes:
    return hashlib.sha256("\n".join(place).encode() + b"\n" + text).digest()
