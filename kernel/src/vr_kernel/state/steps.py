"""Steps: replies that were paid for, and the table that keeps them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol


class StepTable(Protocol):
    """Replies of steps: JSON values by scope (a piece of work), key (a step) and version.

    A damaged reply counts as missing. Replies of several versions are kept side by side.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.
    """

    async def find(self, scope: str, key: str, version: str) -> tuple[Any] | None:
        """The committed reply; None when there is none."""

    async def owns(self, token: int | None) -> bool:
        """Check that the table can be written now, and that the lease of that token is there.

        Without a token only the first.
        """

    async def commit(
        self, scope: str, key: str, version: str, reply: Any, token: int | None
    ) -> tuple[Any, bool]:
        """Keep a reply; returns the valid one, the first, and what `owns` would return.

        The reply is kept even when the lease is gone, since it was paid for.
        """

    async def forget(self, scope: str) -> None:
        """Remove all replies of a piece of work."""

    async def drop(self, scope: str, keys: Sequence[str], version: str) -> None:
        """Remove single replies."""

    async def prune(self, older_than_s: float) -> int:
        """Remove replies older than that many seconds, but for those of jobs; returns how many."""
