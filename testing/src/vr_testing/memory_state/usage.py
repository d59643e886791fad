"""Requests to language models and their cost, in the memory of one process."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import astuple, dataclass, field
from datetime import UTC, datetime

from vr_kernel import Usage
from vr_kernel.state import (
    Attempt,
    AttemptState,
    Grouping,
    Limit,
    LimitReachedError,
    RecordedAttempt,
    Spent,
    UsageRow,
)
from vr_kernel.state.usage import LEAST_USD, TOKENS, UNHEARD_S


@dataclass(slots=True)
class _Kept:
    attempt: Attempt
    at: float
    state: str = "sent"
    usage: Usage = field(default_factory=Usage)
    answered_by: str = ""
    code: str = ""

    @property
    def model(self) -> str:
        return f"{self.attempt.provider}/{self.answered_by or self.attempt.model}"

    @property
    def moment(self) -> datetime:
        return datetime.fromtimestamp(self.at, UTC)

    @property
    def dollars(self) -> float:
        """The cost, or the most that it can be."""
        ended = {"free": 0.0, "paid": self.usage.cost_usd or 0.0}
        return ended.get(self.state, self.attempt.most_usd or 0.0)

    def counts_for(self, limit: Limit) -> bool:
        """Check if a limit counts it."""
        whose = limit.principal in (None, self.attempt.principal)
        return self.at >= limit.since and whose and limit.call_id in ("", self.attempt.call_id)

    def shown(self, now: float) -> str:
        return "maybe_paid" if self.state == "sent" and self.at < now - UNHEARD_S else self.state

    def key(self, by: Grouping) -> str:
        keys = {"model": self.model, "day": self.moment.date().isoformat()}
        return keys.get(by) or str(getattr(self.attempt, by))


class MemoryUsage:
    """The attempts of one process; see `vr_kernel.state.UsageTable`."""

    def __init__(self, clock: Callable[[], float] = time.time) -> None:
        """`clock` gives seconds since the epoch."""
        self._clock = clock
        self._attempts: list[_Kept] = []

    async def begin(self, attempt: Attempt, limits: Sequence[Limit] = ()) -> int:
        """Add an attempt that is about to be sent, unless it could pass a limit."""
        for value in astuple(attempt):
            str(value).encode()
        for limit in limits:
            spent = await self.spent(limit)
            if spent.usd + (attempt.most_usd or 0.0) > limit.usd + LEAST_USD:
                raise LimitReachedError(limit, spent)
        self._attempts.append(_Kept(attempt, self._clock()))
        return len(self._attempts)

    async def end(
        self,
        number: int,
        state: AttemptState,
        usage: Usage,
        *,
        model: str = "",
        code: str = "",
        prices: str = "",
    ) -> None:
        """Record the end of an attempt; the first end stands."""
        f"{model}{code}{prices}".encode()
        if not 0 < number <= len(self._attempts) or self._attempts[number - 1].state != "sent":
            return
        kept = self._attempts[number - 1]
        kept.state, kept.usage, kept.answered_by, kept.code = state, usage, model, code

    async def sums(
        self, by: Grouping, since: float, until: float, principal: str | None = None
    ) -> list[UsageRow]:
        """Sum the attempts of a time; days newest first, other groups most tokens first."""
        rows: dict[str, UsageRow] = {}
        now = self._clock()
        for kept in self._attempts:
            if since <= kept.at < until and principal in (None, kept.attempt.principal):
                row = rows.setdefault(kept.key(by), UsageRow(key=kept.key(by)))
                row.calls += kept.state == "paid"
                row.attempts += 1
                row.maybe_paid += kept.shown(now) == "maybe_paid"
                row.cost_usd += kept.usage.cost_usd or 0.0
                row.unpriced += kept.state == "paid" and kept.usage.cost_usd is None
                row.media_seconds += kept.attempt.media_seconds
                for name in TOKENS:
                    setattr(row, name, getattr(row, name) + getattr(kept.usage, name))
        if by == "day":
            return sorted(rows.values(), key=lambda row: row.key, reverse=True)
        return sorted(rows.values(), key=lambda row: (-_tokens(row), row.key))

    async def spent(self, limit: Limit) -> Spent:
        """Sum what the attempts that a limit counts have cost, or may."""
        counted = [kept for kept in self._attempts if kept.counts_for(limit)]
        under_way = [kept for kept in counted if kept.shown(self._clock()) == "sent"]
        open_usd = sum(kept.attempt.most_usd or 0.0 for kept in under_way)
        return Spent(sum(kept.dollars for kept in counted), open_usd)

    async def newest(self, limit: int, tool: str = "") -> list[RecordedAttempt]:
        """List the newest attempts, of one tool or of all, newest first."""
        now = self._clock()
        found = [kept for kept in self._attempts if tool in ("", kept.attempt.tool)]
        return [_recorded(kept, now) for kept in found[: -limit - 1 : -1]]

    def remarks(self) -> list[str]:
        """Return nothing: memory is not damaged."""
        return []

    def close(self) -> None:
        """Do nothing: what is kept stays."""


def _tokens(row: UsageRow) -> int:
    return row.input_tokens + row.output_tokens + row.thinking_tokens


def _recorded(kept: _Kept, now: float) -> RecordedAttempt:
    attempt, tokens = kept.attempt, {name: getattr(kept.usage, name) for name in TOKENS}
    return RecordedAttempt(
        at=kept.moment,
        call_id=attempt.call_id,
        tool=attempt.tool,
        model=kept.model,
        purpose=attempt.purpose,
        number=attempt.number,
        state=kept.shown(now),
        code=kept.code,
        asked=f"{attempt.provider}/{attempt.model}",
        tokens=attempt.tokens,
        usage=Usage(calls=int(kept.state == "paid"), cost_usd=kept.usage.cost_usd, **tokens),
    )
