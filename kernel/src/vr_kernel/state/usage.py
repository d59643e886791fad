"""Requests to language models and their cost: the table with one row per attempt."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Literal, Protocol

from pydantic import BaseModel

from vr_kernel.generation import Usage

Grouping = Literal["tool", "day", "model", "plugin", "provider", "principal"]
"""The groups of sums: `day` is a UTC date, `model` is `provider/model` that answered."""
AttemptState = Literal["paid", "free", "maybe_paid"]
"""The end of an attempt: `free` cost nothing; `maybe_paid` may have, without a reply."""
UNHEARD_S = 3600.0
"""Age in seconds from which an attempt without a recorded end counts as `maybe_paid`."""
TOKENS = ("input_tokens", "output_tokens", "thinking_tokens", "cached_tokens")


@dataclass(frozen=True, slots=True)
class Attempt:
    """One request to a model, before it is sent.

    Args:
        model: the one that is asked, without its provider's name before it.
        purpose: `generate`, `stream`, `embed`, `count`, `cache` or `research`.
        number: of the attempt within its call to the model, from 1.
        media_seconds: length of the media in the request, as far as known.
        tokens: about so many are sent.
        most_usd: the most that it can cost in US dollars; None when that was not asked.
    """

    call_id: str
    tool: str
    plugin: str
    principal: str
    provider: str
    model: str
    purpose: str
    number: int
    media_seconds: float = 0.0
    job_id: str = ""
    tokens: int = 0
    most_usd: float | None = None


LEAST_USD = 1e-9
"""Sums of costs are exact to this many dollars."""


@dataclass(frozen=True, slots=True)
class Limit:
    """The most that attempts may cost together.

    Args:
        name: of the setting.
        usd: US dollars.
        since: seconds since the epoch; earlier attempts do not count.
        call_id: of the call whose attempts count; those of all when empty.
        principal: whose attempts count; those of all when left out.
    """

    name: str
    usd: float
    since: float = 0.0
    call_id: str = ""
    principal: str | None = None


@dataclass(frozen=True, slots=True)
class Spent:
    """The cost of the attempts that a limit counts, in US dollars.

    One that may have been paid without a reply counts with the most that it can have cost.

    Args:
        usd: of all, with the most that those may cost that have not ended.
        open: the part of it that may still come to less, of attempts that are under way.
    """

    usd: float
    open: float


class LimitReachedError(Exception):
    """An attempt that was not begun, as it could pass a limit: which one, and what was spent."""

    def __init__(self, limit: Limit, spent: Spent) -> None:
        super().__init__(limit.name)
        self.limit = limit
        self.spent = spent


class UsageRow(BaseModel):
    """Sums over attempts; `calls` were paid; `maybe_paid` may have been, without a reply.

    `cost_usd` is in US dollars, without the `unpriced` calls, whose price is not known.
    """

    key: str
    calls: int = 0
    attempts: int = 0
    maybe_paid: int = 0
    input_tokens: int = 0
    output_tokens: int = 0
    thinking_tokens: int = 0
    cached_tokens: int = 0
    media_seconds: float = 0.0
    cost_usd: float = 0.0
    unpriced: int = 0


@dataclass(frozen=True, slots=True)
class RecordedAttempt:
    """An attempt as recorded in the ledger.

    `state` is `sent`, `paid`, `free` (it cost nothing) or `maybe_paid`; `model` is
    `provider/model` of the one that answered, else of the one asked; `code` says why it failed.
    `asked` is `provider/model` of the one that was asked, with about so many `tokens`.
    """

    at: datetime
    call_id: str
    tool: str
    model: str
    purpose: str
    number: int
    state: str
    code: str
    usage: Usage
    asked: str = ""
    tokens: int = 0


class UsageTable(Protocol):
    """The attempts of all processes and principals.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written. An attempt
    without an end counts as `maybe_paid` after `UNHEARD_S`.
    """

    async def begin(self, attempt: Attempt, limits: Sequence[Limit] = ()) -> int:
        """Add an attempt that is about to be sent, and return its number; numbers rise.

        Raises:
            ValueError: for a name that is no valid Unicode.
            LimitReachedError: when the most that it can cost, with what was spent, is more than one
                of the limits; nothing is added then. No other attempt is added meanwhile.
        """

    async def spent(self, limit: Limit) -> Spent:
        """Sum what the attempts that a limit counts have cost, or may."""

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
        """Record the end of an attempt; the first end stands.

        It is held in memory while there is no room for it.

        Args:
            number: of the attempt.
            state: how it ended.
            usage: its cost.
            model: the one that answered, without its provider's name before it.
            code: of the error that ended it.
            prices: the price list by which its cost is known: its date, or its name.
        """

    async def sums(
        self, by: Grouping, since: float, until: float, principal: str | None = None
    ) -> list[UsageRow]:
        """Sum the sound attempts of a time; days newest first, other groups most tokens first.

        Args:
            by: groups the sums.
            since: seconds since the epoch, or `-inf`.
            until: the first second that no longer counts, or `inf`.
            principal: whose attempts; those of all when left out.
        """

    async def newest(self, limit: int, tool: str = "") -> list[RecordedAttempt]:
        """List the newest sound attempts, of one tool or of all, newest first."""

    def remarks(self) -> list[str]:
        """Say what the sums of this process lack because of damage."""

    def close(self) -> None:
        """Give back what is open; a later use opens it again."""
