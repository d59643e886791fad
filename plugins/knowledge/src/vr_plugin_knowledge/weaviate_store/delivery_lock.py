"""A lock on delivery: one process at a time of those that share a state."""

from __future__ import annotations

import asyncio
import math
import uuid
from collections.abc import AsyncIterator, Iterator, Mapping
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from vr_kernel import Code, Services, VrError
from vr_kernel.state import ROW_CHANGED, Adopted, Put, adopt_file
from vr_kernel.storage import DAMAGED, told_by

if TYPE_CHECKING:
    from vr_kernel.jobs import Lease

FORMER = "weaviate.db"
"""The file of an earlier version, in the state folder; its name of the journal is taken over."""
LEASE, ROW = "follow/weaviate", "weaviate/journal"
WAIT_S = 90.0
"""Longest wait for the lock; more than a batch of another process may take."""
SHARE = 0.45
"""Share of the lease's term that one request may take: a later owner finds it done or failed."""


class DeliveryLock:
    """A lease beside the journal, and the name that an earlier version gave the journal.

    The name distinguishes the journals of several machines that fill one server. Weaviate has no
    transactions: without the lock a slow process could write an old state over a newer one.

    Args:
        services: of the knowledge plugin.
    """

    def __init__(self, services: Services) -> None:
        self._services = services
        self._own = asyncio.Lock()
        self._lease: Lease | None = None
        self._name = ""

    async def name(self) -> str:
        """The journal's name, generated at first use.

        Raises:
            VrError: UNAVAILABLE when it cannot be read or kept; category STATE_DAMAGED for a name
                that no journal can have.
        """
        if not self._name:
            self._name = _require_name(await self._kept_name())
        return self._name

    @asynccontextmanager
    async def held(self) -> AsyncIterator[None]:
        """Wait for the lock, and hold it.

        Raises:
            VrError: UNAVAILABLE when another process holds it for too long.
        """
        async with self._own, self._services.leases.held(LEASE, patience=WAIT_S) as lease:
            if lease is None:
                raise _unavailable("Another process has been delivering to Weaviate for too long.")
            self._lease = lease
            try:
                yield
            finally:
                self._lease = None

    def request_s(self) -> float:
        """Return the most seconds that a request under the lock may take.

        Raises:
            VrError: UNAVAILABLE when the lock is lost, so that no request may be sent.
        """
        if self._lease is None:
            return math.inf
        if self._lease.lost:
            raise _unavailable("Another process may have taken over the delivery to Weaviate.")
        return SHARE * self._lease.term_s

    async def _kept_name(self) -> Any:
        rows, services = self._services.rows.within(), self._services
        file, tell = services.paths.state / FORMER, told_by(services.log)
        await adopt_file(file, rows, services.leases, {"journal": _adopt}, tell)
        while True:
            if (row := await rows.get(ROW)) is not None:
                return row.value
            try:
                return (await rows.put(ROW, str(uuid.uuid4()), expected=0)).value
            except VrError as error:
                if error.category != ROW_CHANGED:
                    raise


def _adopt(row: Mapping[str, Any]) -> Iterator[Adopted]:
    yield Adopted(Put(ROW, _require_name(row["name"])))


def _require_name(name: Any) -> str:
    """Refuse a name that no journal can have.

    Raises:
        VrError: UNAVAILABLE, category STATE_DAMAGED.
    """
    try:
        return str(uuid.UUID(name))
    except (ValueError, TypeError, AttributeError):
        raise VrError(
            "The name of the journal, by which Weaviate knows it, is damaged.",
            Code.UNAVAILABLE,
            category=DAMAGED,
            hint="Restore the state from a backup.",
        ) from None


def _unavailable(what: str) -> VrError:
    return VrError(
        what,
        Code.UNAVAILABLE,
        category="STORE_UNAVAILABLE",
        hint="It is tried again by itself; nothing is lost.",
        retryable=True,
    )
