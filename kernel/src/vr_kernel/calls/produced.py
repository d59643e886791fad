"""One call as the kernel sees it: for whom it works, and what it has produced so far."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any

from vr_kernel.errors import Code, VrError
from vr_kernel.jobs.scopes import Scope
from vr_kernel.progress import Report
from vr_kernel.questions import Asker, ask_nobody

if TYPE_CHECKING:
    from vr_kernel.calls.context import Context
    from vr_kernel.content import Content
    from vr_kernel.jobs.lease import Lease
    from vr_kernel.models.usage import Meter
    from vr_kernel.records import Record


@dataclass(frozen=True, slots=True)
class CacheWrite:
    """A result to be cached; without `replace`, an existing entry is kept."""

    key: str
    value: dict[str, Any]
    content_id: str
    model: str
    replace: bool = True


@dataclass(slots=True)
class Produced:
    """The work of one call, for whom it is done, and all that is committed when it succeeds.

    Attributes:
        context: the services of the tool's plugin for this call.
        report: takes progress.
        meter: counts what language models cost.
        scope: commits steps and paid replies; None where nothing outlives the call.
        asker: puts questions to the person who called.
        repeatable: False keeps the result out of the cache.
        essential: the call fails when its records cannot be journalled.
        leases: released when its records are journalled, or when it has failed.
        shared: work whose result others have already; journalled even when this call fails.
        recorded: how many records are in the journal already, before the end of the call.
        started_at: when it began, in seconds since the epoch.
        begun: the same by the monotonic clock.
        run: of a job, how many processes began it.
        owner: finds the lease of the job that this is, if it is one by now; without that lease
            nothing is committed.
        ended: it is a turn whose block has been left.
    """

    id: str
    tool: str
    context: Context
    principal: str
    report: Report
    meter: Meter
    scope: Scope | None = None
    steps_version: str = ""
    asker: Asker = ask_nobody
    repeatable: bool = True
    essential: bool = False
    records: list[Record] = field(default_factory=list)
    deletions: list[tuple[str, str]] = field(default_factory=list)
    cache_writes: list[CacheWrite] = field(default_factory=list)
    attachments: list[Content] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    leases: list[Lease] = field(default_factory=list)
    shared: list[Produced] = field(default_factory=list)
    recorded: int = 0
    started_at: float = field(default_factory=time.time)
    begun: float = field(default_factory=time.monotonic)
    run: int = 1
    owner: Callable[[], Awaitable[Lease | None]] | None = None
    ended: bool = False

    def require_open(self) -> None:
        """Refuse what nobody would commit any more.

        Raises:
            VrError: CONFLICT, category TURN_ENDED.
        """
        if self.ended:
            raise VrError(
                "This turn has ended: nothing more of it is recorded.",
                Code.CONFLICT,
                category="TURN_ENDED",
                hint="Record within the block of `Kernel.turn`.",
            )

    @property
    def is_empty(self) -> bool:
        """True when there is nothing to journal, to cache or to release."""
        return not (
            self.records or self.deletions or self.cache_writes or self.shared or self.leases
        )

    @property
    def is_paid(self) -> bool:
        """True when anything was paid for, by this call or by one whose steps it reused."""
        found = self.scope is not None and self.scope.begun
        return found or bool(self.leases) or self.meter.usage.calls > 0

    def branch(
        self, scope: Scope | None, report: Report, notes: list[str] | None = None
    ) -> Produced:
        """Return new work on behalf of this call, which has produced nothing yet."""
        meter = self.meter.fresh()
        return replace(
            self,
            context=self.context.of_call(meter, scope),
            meter=meter,
            scope=scope,
            report=report,
            repeatable=True,
            essential=False,
            records=[],
            deletions=[],
            cache_writes=[],
            attachments=[],
            notes=[] if notes is None else notes,
            leases=[],
            shared=[],
            recorded=0,
        )

    def share(self, place: str, lease: Lease | None, report: Report) -> Produced:
        """Return work that several callers wait for; see `Call.once`.

        Args:
            place: the name of its steps in the ledger.
            lease: of the work; None when it cannot be owned.
            report: takes its progress.
        """
        notes: list[str] = []

        async def hold() -> Lease | None:
            if self.scope is not None:
                await self.scope.hold()
            return lease

        scope = Scope(self.context.steps, place, self.steps_version, hold, notes.append)
        shared = self.branch(scope, report, notes)
        shared.leases = [lease] if lease is not None else []
        shared.asker = ask_nobody
        shared.owner = None  # others have the result, whoever has the job
        shared.context.models.recorder.keep_in(shared.context.cache)
        return shared

    def with_context(self, context: Context) -> Produced:
        """Return the same work for another plugin, with that plugin's own settings."""
        owner = context.of_principal(self.principal)
        return replace(self, context=owner.of_call(self.meter, self.scope))

    def absorb(self, other: Produced) -> None:
        """Take over everything that other work produced and paid for."""
        self.records.extend(other.records)
        self.essential = self.essential or other.essential
        self.deletions.extend(other.deletions)
        self.cache_writes.extend(other.cache_writes)
        self.leases.extend(other.leases)
        self.shared.extend(other.shared)
        self.take_account_of(other)

    def take_account_of(self, other: Produced) -> None:
        """Take over the costs, notes, attachments and number of records of other work."""
        self.meter.add_all(other.meter)
        self.notes.extend(other.notes)
        self.attachments.extend(other.attachments)
        self.recorded += other.recorded

    async def step(self, key: str, work: Callable[[], Awaitable[Any]]) -> Any:
        """Return the result of `work`, committed before; see `Call.step`."""
        return await (work() if self.scope is None else self.scope.run(f"step/{key}", work))
