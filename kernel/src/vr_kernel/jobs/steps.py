"""Paid replies, committed before they are returned, so that nothing is paid twice after a crash."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from contextlib import suppress
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import VrError
from vr_kernel.isolation.plugin_code import PluginCode
from vr_kernel.jobs.completion import complete, settle
from vr_kernel.jobs.lease import Lease, lease_lost

if TYPE_CHECKING:
    from vr_kernel.state.protocols import State
    from vr_kernel.state.steps import StepTable


class Steps:
    """Replies of steps, JSON values by scope (a piece of work), key (a step) and version.

    A damaged reply counts as missing, and is paid for again. Replies of several versions are kept
    side by side. While there is no disk space for a reply, it is kept in memory, and found there.
    """

    def __init__(self, state: State) -> None:
        self._state = state

    @property
    def table(self) -> StepTable:
        """The replies as they are kept; opened at first use."""
        return self._state.steps

    async def find(self, scope: str, key: str, version: str = "") -> Any | None:
        """The committed reply; None when there is none, or when the reply was None.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        found = await self.table.find(scope, key, version)
        return found[0] if found else None

    async def commit(
        self, scope: str, key: str, reply: Any, *, version: str = "", lease: Lease | None = None
    ) -> Any:
        """Keep a reply and return the valid one: the first that was committed.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another owner took the lease. The reply is
                kept anyway, since it was paid for; UNAVAILABLE when the ledger cannot be written.
        """
        token = None if lease is None else lease.token
        committing = self.table.commit(scope, key, version, reply, token)
        kept, owned = await complete(committing)
        if lease is not None and not owned:
            lease.over = True
            raise lease_lost(lease)
        return kept

    async def _require_writable(self, lease: Lease | None) -> None:
        """Refuse a step that cannot be committed, or that another process owns by now."""
        if lease is not None:
            lease.check()
        owned = await self.table.owns(None if lease is None else lease.token)
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
        found = await self.table.find(scope, key, version)
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
