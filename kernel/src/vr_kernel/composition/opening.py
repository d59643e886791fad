"""A kernel on its way to be opened."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import TYPE_CHECKING, Any

from vr_kernel.composition.foundation import not_open

if TYPE_CHECKING:
    from vr_kernel.kernel import Kernel

CALLS = frozenset({"call", "run", "start", "read", "write"})


class Opening(AbstractAsyncContextManager["Kernel"]):
    """Opens a kernel for the time of an `async with`, and answers no call itself.

    Args:
        make: makes the kernel.
    """

    def __init__(self, make: Callable[[], Kernel]) -> None:
        self._make = make

    async def __aenter__(self) -> Kernel:
        """The kernel."""
        self._kernel = self._make()
        return self._kernel

    async def __aexit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        """Close it."""
        await self._kernel.aclose()

    def __getattr__(self, name: str) -> Any:
        """Say of a call that comes too early what it lacks."""
        if name in CALLS:
            raise not_open("not open yet")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")
