"""Opening of a kernel for a time, and the error of using one that is not open."""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Any, Protocol, TypeVar

from vr_kernel.errors import Code, VrError


class Closable(Protocol):
    """Something to be begun, and to be closed at the end."""

    async def begin(self) -> None:
        """Begin."""

    async def aclose(self) -> None:
        """Close it."""


K = TypeVar("K", bound=Closable)
CALLS = frozenset({"call", "run", "start", "read", "write"})


class Opening(AbstractAsyncContextManager[K]):
    """Opens a kernel for the time of an `async with`, and answers no call itself.

    Args:
        make: makes the kernel.
    """

    def __init__(self, make: Callable[[], K]) -> None:
        self._make = make

    async def __aenter__(self) -> K:
        """Make the kernel."""
        self._kernel = self._make()
        try:
            await self._kernel.begin()
        except BaseException:
            await self._kernel.aclose()
            raise
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
        """Raise an error for a call made before the kernel is open."""
        if name in CALLS:
            raise not_open("not open yet")
        raise AttributeError(f"{type(self).__name__!r} object has no attribute {name!r}")


def not_open(state: str) -> VrError:
    """Return the error of a kernel that is used in this state: `closed`, or `not open yet`."""
    return VrError(
        f"The kernel is {state}.",
        Code.CONFLICT,
        category="KERNEL_CLOSED",
        hint="Call it inside `async with Kernel.open() as kernel:`.",
    )
