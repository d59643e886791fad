"""Requests to language models and their cost: the table with one row per attempt."""

from __future__ import annotations

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


class UsageTable(Protocol):
    """The attempts of all processes and principals.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written. An attempt
    without an end counts as `maybe_paid` after `UNHEARD_S`.
    """

    async def begin(self, attempt: Attempt) -> int:
        """Add an attempt that is about to be sent, and return its number; numbers rise.

        Raises:
            ValueError: for a name that is no valid Unicode.
        """

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
            prices: the date of the price list by which its cost is known.
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

    async def newest(self, limit: int) -> list[RecordedAttempt]:
        """List the newest sound attempts, newest first."""

    def remarks(self) -> list[str]:
        """Say what the sums of this process lack because of damage."""

    def close(self) -> None:
        """Give back what is open; a later use opens it again."""
