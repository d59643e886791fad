"""Scopes: the paid replies of one piece of work, committed before they are returned."""

from __future__ import annotations

from collections import Counter
from collections.abc import Awaitable, Callable
from typing import Any

from vr_kernel.errors import VrError
from vr_kernel.jobs.lease import Lease
from vr_kernel.jobs.steps import Steps
from vr_kernel.storage.database_faults import is_of_state


class Scope:
    """The steps of one job, or of one result that is to be cached.

    Work that is repeated, after a crash or in another process, finds the committed replies of its
    earlier steps. When the ledger cannot be written, work goes on without them.

    Args:
        steps: the ledger.
        name: names the work across runs and processes.
        version: of what the steps mean; replies of another version are not used.
        hold: makes sure that this process owns the work; None when it cannot be owned.
        remark: told once when replies cannot be committed.

    Attributes:
        went_on: called after each reply that was paid and committed, when it is set.
    """

    def __init__(
        self,
        steps: Steps,
        name: str,
        version: str,
        hold: Callable[[], Awaitable[Lease | None]],
        remark: Callable[[str], None],
    ) -> None:
        self.name = name
        self._steps = steps
        self._version = version
        self.hold = hold
        self._remark = remark
        self.went_on: Callable[[], Awaitable[None]] | None = None
        self._seen: Counter[str] = Counter()
        self._told = False

    @property
    def begun(self) -> bool:
        """True when a step of this work was begun or found again."""
        return bool(self._seen)

    async def run(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """The committed reply of the key's next step, or the result of `work`; see `commit`."""
        return await self.commit(self.next_step(key), work)

    def next_step(self, key: str) -> str:
        """The name of a step: equal keys of one piece of work are told apart by their order."""
        self._seen[key] += 1
        return f"{key}#{self._seen[key]}"

    async def commit(self, step: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """The committed reply of a step, or the result of `work`, which is then committed.

        A reply that arrived is committed even when the caller is cancelled at that moment.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when another process took the work over.
        """
        lease = await self._held()
        replies: list[Any] = []
        worked = False

        async def paying() -> Any:
            nonlocal worked
            worked = True
            replies.append(await work())
            return replies[0]

        try:
            kept = await self._steps.run(
                self.name, step, paying, version=self._version, lease=lease
            )
            if replies and self.went_on is not None:
                await self.went_on()
        except VrError as error:
            # An error of the work goes to the caller; a result must not be lost.
            if not is_of_state(error) or (not replies and (worked or error.retryable)):
                raise
            self._tell(error)
        else:
            return kept
        return replies[0] if replies else await work()

    async def drop(self, *steps: str) -> None:
        """Forget the replies of steps that turned out to be useless."""
        try:
            await self._steps.table.drop(self.name, steps, self._version)
        except VrError as error:
            self._tell(error)

    async def _held(self) -> Lease | None:
        try:
            return await self.hold()
        except VrError as error:
            if not is_of_state(error) or error.retryable:
                raise
            self._tell(error)
            return None

    def _tell(self, error: VrError) -> None:
        if not self._told:
            self._told = True
            self._remark(f"A crash would lose paid work: {error.told}")
