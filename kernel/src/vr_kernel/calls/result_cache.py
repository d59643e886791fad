"""Results of pure analyses, kept between runs and shared by processes."""

from __future__ import annotations

import time
from collections.abc import Awaitable, Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel

from vr_kernel.errors import VrError
from vr_kernel.state.cache import CacheRow, CacheStats, cache_key

if TYPE_CHECKING:
    from vr_kernel.calls.cached_model import CachedModel
    from vr_kernel.state.cache import CacheEntry, CacheTable

T = TypeVar("T")
M = TypeVar("M", bound=BaseModel)
SECONDS_PER_DAY = 86_400


class ResultCache:
    """JSON values by key, with an age limit. An unreadable value is a miss, never an error.

    Args:
        table: keeps them.
        ttl_days: age in days after which a value counts as missing.
        warn: called once when the cache cannot be used.
        workspace: whose results they are; empty for the owner's.
    """

    def __init__(
        self,
        table: CacheTable,
        *,
        ttl_days: float,
        warn: Callable[[VrError], None],
        workspace: str = "",
    ) -> None:
        self.ttl_days = ttl_days
        self.workspace = workspace
        self._table = table
        self._warn = warn
        self._warned = False
        self._shapes: dict[type[BaseModel], str] = {}

    @property
    def path(self) -> Path | None:
        """The file on this machine that has the results; None when there is none."""
        return self._table.path

    @property
    def folder(self) -> Path | None:
        """The folder of this machine in which the results need room."""
        return self.path and self.path.parent

    def model(self, key: str, shape: type[M]) -> CachedModel[M]:
        """The place of a result of that shape, with `get`, `put` and `delete`.

        Args:
            key: of `cache_key`, naming everything else that changes the result.
            shape: the model of the result. When it changes, what was kept before is a miss.
        """
        from vr_kernel.calls.cached_model import CachedModel, digest

        known = self._shapes.get(shape)
        if known is None:
            known = self._shapes[shape] = digest(shape)
        return CachedModel(cache_key(key=key, shape=known), key, shape, self)

    async def get(self, key: str) -> dict[str, Any] | None:
        """The value, or None when it is missing, too old or damaged."""
        found = await self.find(key)
        return found[1] if found else None

    async def find(self, *keys: str) -> tuple[str, dict[str, Any]] | None:
        """The first of these keys that has a value, and the value; see `get`."""
        found = await self._attempt(self._table.find(keys, self.oldest()), None)
        if found is None:
            return None
        if found.useless:
            await self._attempt(self._table.remove(found.useless), None)
        return None if found.value is None else (found.key, found.value)

    async def move(self, key: str, to: str) -> None:
        """Keep a value under another key, without a change of its age."""
        await self._attempt(self._table.move(key, to), None)

    async def set(
        self,
        key: str,
        value: dict[str, Any],
        *,
        content_id: str = "",
        tool: str = "",
        model: str = "",
        over: bool = True,
    ) -> None:
        """Keep a value; the names are for `infra_cache` to list and clear by.

        A value with the name of a model was `paid` for: while there is no room, it is held in
        memory. Without `over`, an existing sound value is kept.
        """
        row = CacheRow(key, value, content_id, tool, model, time.time())
        since = None if over else self.oldest()
        put = self._table.put(row, unless_since=since, paid=bool(model))
        await self._attempt(put, None)

    def warn(self, error: VrError) -> None:
        """Say once that the cache cannot be used."""
        if not self._warned:
            self._warned = True
            self._warn(error)

    async def delete(self, key: str) -> None:
        """Forget one value."""
        await self._attempt(self._table.delete(key), None)

    async def clear(self, content_id: str | None = None) -> int:
        """Forget everything, or what belongs to one content; returns how many."""
        return await self._attempt(self._table.clear(content_id), 0)

    async def entries(self, limit: int, content_id: str | None = None) -> list[CacheEntry]:
        """The newest entries."""
        return await self._attempt(self._table.entries(limit, content_id), [])

    async def stats(self) -> CacheStats:
        """Count the results and their size."""
        return await self._attempt(self._table.stats(), CacheStats(0, 0))

    async def check(self) -> None:
        """Check that a value could be kept now, without keeping one.

        Raises:
            VrError: UNAVAILABLE, category STATE_UNAVAILABLE, when it could not.
        """
        await self._table.check()

    def close(self) -> None:
        """Close the table."""
        self._table.close()

    async def _attempt(self, work: Awaitable[T], otherwise: T) -> T:
        try:
            return await work
        except VrError as error:
            self.warn(error)
            return otherwise

    def oldest(self) -> float:
        """The time before which a value is too old, in seconds since the epoch."""
        return time.time() - self.ttl_days * SECONDS_PER_DAY
