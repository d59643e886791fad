"""The ledger of requests to language models and their cost, and the meter of one call."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, datetime
from math import inf
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.events import NO_TRACE, Trace
from vr_kernel.generation import Usage

if TYPE_CHECKING:
    from vr_kernel.spending.paid_requests import Foreseen
    from vr_kernel.state.usage import (
        Attempt,
        AttemptState,
        Grouping,
        Limit,
        RecordedAttempt,
        Spent,
        UsageRow,
        UsageTable,
    )


@dataclass(slots=True)
class Meter:
    """The cost of one call of a tool so far, the models that answered, and remarks.

    `kept_calls` of its calls of models produced cached results: they are not paid for again.
    `eased` says that some were made cheaper, as most of a budget was used. With `foreseen` nothing
    is sent: the first request of each course of work is noted there. `most_usd` is the most that
    the call itself may cost, over what is configured.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    workspace: str = ""
    trace: Trace = NO_TRACE
    usage: Usage = field(default_factory=Usage)
    models: list[str] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    kept_calls: int = 0
    eased: bool = False
    foreseen: Foreseen | None = None
    most_usd: float | None = None

    def add(self, usage: Usage, model: str = "") -> None:
        """Count what an attempt cost, and name the model that answered, if one did."""
        self.usage += usage
        if model and model not in self.models:
            self.models.append(model)

    def tell_once(self, note: str) -> None:
        """Add a remark, unless it was made."""
        if note not in self.notes:
            self.notes.append(note)

    def limit_spending(self, usd: float) -> None:
        """Let the call cost so much at most.

        Raises:
            ValueError: for an amount that is no finite number, or below 0.
        """
        if not 0 <= usd < inf:
            raise ValueError(f"a limit of {usd} is no amount in dollars")
        self.most_usd = usd if self.most_usd is None else min(usd, self.most_usd)

    def add_all(self, other: Meter) -> None:
        """Count everything that another meter counted."""
        self.usage += other.usage
        self.models += [model for model in other.models if model not in self.models]
        self.notes += other.notes
        self.kept_calls += other.kept_calls
        self.eased = self.eased or other.eased

    def fresh(self) -> Meter:
        """An empty meter of the same call."""
        names = (self.call_id, self.tool, self.plugin, self.principal, self.workspace, self.trace)
        return Meter(*names, foreseen=self.foreseen, most_usd=self.most_usd)


class UsageLedger:
    """Every attempt at paid work, of all processes.

    A request is not sent if its row cannot be written. The end of a request may be missing in
    reports, but never fails a call; while there is no room for it, it is held in memory and
    counted.

    Args:
        table: keeps the attempts.
        warn: called once when an end cannot be written.
    """

    def __init__(self, table: UsageTable, warn: Callable[[VrError], None]) -> None:
        self._table = table
        self._warn = warn
        self._warned = False

    async def begin(self, attempt: Attempt, limits: Sequence[Limit] = ()) -> int:
        """Record that a request is sent; returns its row.

        Raises:
            LimitReachedError: when it could pass one of the limits.
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when that cannot be written.
        """
        return await self._table.begin(attempt, *([limits] if limits else []))

    async def spent(self, limit: Limit) -> Spent:
        """Sum what the attempts that a limit counts have cost, or may."""
        return await self._table.spent(limit)

    async def paid(self, row: int, model: str, usage: Usage, prices: str = "") -> None:
        """Record the cost of an answer.

        Args:
            row: what `begin` returned.
            model: the one that answered, without its provider's name before it.
            usage: what it reported, and what that costs.
            prices: the price list by which that is known: its date, or its name.
        """
        await self._end(row, "paid", usage, model=model, prices=prices)

    async def failed(
        self, row: int, *, code: str, usage: Usage | None, maybe_paid: bool, prices: str = ""
    ) -> None:
        """Record that an attempt failed.

        Args:
            row: what `begin` returned.
            code: of the error.
            usage: what it cost nevertheless.
            maybe_paid: whether a reply that never arrived may have been charged.
            prices: as of `paid`.
        """
        charged = usage is not None and usage != Usage()
        state: AttemptState = "maybe_paid" if maybe_paid else "paid" if charged else "free"
        await self._end(row, state, usage or Usage(), code=code, prices=prices)

    async def report(
        self,
        by: Grouping,
        *,
        since: datetime | None = None,
        until: datetime | None = None,
        principal: str | None = None,
    ) -> list[UsageRow]:
        """Sums by tool, UTC day, answering model, plugin, provider or principal.

        Times without a time zone are in UTC.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        begin, end = _seconds(since, float("-inf")), _seconds(until, float("inf"))
        return await self._table.sums(by, begin, end, principal)

    async def recent(self, limit: int, tool: str = "") -> list[RecordedAttempt]:
        """The newest attempts, of one tool or of all, newest first.

        Raises:
            VrError: UNAVAILABLE when the ledger cannot be read.
        """
        return await self._table.newest(limit, *([tool] if tool else []))

    def remarks(self) -> list[str]:
        """List what the reports of this process lack because of damage."""
        return self._table.remarks()

    def close(self) -> None:
        """Close the table; a later use opens it again."""
        self._table.close()

    async def _end(
        self,
        row: int,
        state: AttemptState,
        usage: Usage,
        *,
        model: str = "",
        code: str = "",
        prices: str = "",
    ) -> None:
        try:
            await self._table.end(row, state, usage, model=model, code=code, prices=prices)
        except VrError as error:
            if not self._warned:
                self._warned = True
                self._warn(error)


def _seconds(moment: datetime | None, otherwise: float) -> float:
    if moment is None:
        return otherwise
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
