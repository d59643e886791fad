"""Results of pure analyses: the table that keeps them by key."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple, Protocol


class CacheRow(NamedTuple):
    """A result to be kept.

    Attributes:
        key: made by `cache_key`.
        value: a JSON object.
        content_id: of the content it is about, to clear by.
        tool: the one that made it.
        model: the one that was paid for it; empty when none was.
        cached_at: seconds since the epoch.
    """

    key: str
    value: dict[str, Any]
    content_id: str = ""
    tool: str = ""
    model: str = ""
    cached_at: float = 0.0


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """A cached result, as `infra_cache` lists it; times in seconds since the epoch."""

    content_id: str
    tool: str
    model: str
    cached_at: float
    size: int


@dataclass(frozen=True, slots=True)
class CacheStats:
    """Count of the results that the cache holds, and their size in bytes."""

    entries: int
    size: int


class UselessRow(NamedTuple):
    """A row that is too old or damaged; its time tells it from one that replaces it."""

    key: str
    cached_at: Any


@dataclass(slots=True)
class CacheFind:
    """The outcome of a search for the first of several keys that has a value.

    Attributes:
        key: of the value; empty when there is none.
        value: a sound one; None when there is none.
        useless: rows of the keys before it that have no sound value.
    """

    key: str = ""
    value: dict[str, Any] | None = None
    useless: list[UselessRow] = field(default_factory=list)


class CacheTable(Protocol):
    """The cached results of one workspace.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.
    """

    @property
    def path(self) -> Path | None:
        """The file on this machine that has it, which needs room; None when there is none."""

    async def find(self, keys: Sequence[str], since: float) -> CacheFind:
        """Find the first of these keys that has a sound value, put after that time."""

    async def put(
        self,
        row: CacheRow,
        *,
        unless_since: float | None = None,
        paid: bool = False,
        fence: int | None = None,
    ) -> None:
        """Keep a result.

        Args:
            row: replaces the one of its key.
            unless_since: keeps a sound one instead that was put after that time.
            paid: holds it in memory while there is no room for it.
            fence: token of a lease without which nothing is kept: an owner that stood still
                replaces nothing that its successor has kept.

        Raises:
            VrError: CONFLICT, category LEASE_LOST, when the lease of the fence is gone.
            ValueError, TypeError: for a value or names that are no JSON.
        """

    async def move(self, key: str, to: str) -> None:
        """Keep a row under another key, without a change of its time."""

    async def delete(self, key: str) -> None:
        """Remove one row."""

    async def remove(self, useless: Sequence[UselessRow]) -> None:
        """Remove rows, unless they were replaced meanwhile; waits for no other process for long."""

    async def clear(self, content_id: str | None = None) -> int:
        """Remove every row, or those of one content; returns how many."""

    async def forget_naming(self, names: Collection[str]) -> None:
        """Remove every row whose value names one of these artifacts."""

    async def entries(self, limit: int, content_id: str | None = None) -> list[CacheEntry]:
        """List the newest rows, damaged ones among them."""

    async def stats(self) -> CacheStats:
        """Count the rows and their size."""

    async def check(self) -> None:
        """Check that a row could be kept now, without keeping one."""

    def close(self) -> None:
        """Give back what is open; a later use opens it again."""


def cache_key(**parts: Any) -> str:
    """A key made from JSON values; include everything that changes the answer."""
    canonical = json.dumps(parts, sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return hashlib.sha256(canonical.encode()).hexdigest()
