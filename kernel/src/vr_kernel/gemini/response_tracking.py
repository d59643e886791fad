"""Tracks the HTTP responses of a piece of work, so that one left half read can be closed.

The SDK closes a response when its stream ends; an abandoned stream keeps its connection until it is
garbage collected.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import httpx2


class ResponseTracking:
    """The responses of one HTTP client."""

    def __init__(self) -> None:
        self._listener: ContextVar[list[httpx2.Response] | None] = ContextVar(
            "vr_gemini_responses", default=None
        )

    async def note(self, response: httpx2.Response) -> None:
        """Remember a response; a hook of the HTTP client."""
        seen = self._listener.get()
        if seen is not None:
            seen.append(response)

    @contextmanager
    def tracked(self) -> Iterator[list[httpx2.Response]]:
        """The responses that arrive for this task within the block."""
        seen: list[httpx2.Response] = []
        token = self._listener.set(seen)
        try:
            yield seen
        finally:
            self._listener.reset(token)
