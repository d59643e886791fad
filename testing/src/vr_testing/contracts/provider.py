"""The base of the contracts: opens a provider by its plugin, in a kernel."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import ClassVar, Generic, TypeVar

from vr_testing.kernels import open_kernel

P = TypeVar("P")


class ProviderContract(Generic[P]):
    """Opens the provider that a subclass names, as users get it: by its plugin, in a kernel."""

    plugins: ClassVar[Mapping[str, object]]
    """Name -> plugin object or module; one of them offers the provider."""
    provider: ClassVar[str]
    """The name under which it is offered."""
    settings: ClassVar[Mapping[str, object]] = {}
    """Settings of the kernel, as for `vr_testing.open_kernel`."""
    kind: type[P]
    """The protocol, which the contract of each kind sets."""

    @asynccontextmanager
    async def opened(self, folder: Path | None = None) -> AsyncIterator[P]:
        """The provider of a new kernel, which also closes it; by default in a new folder."""
        async with open_kernel(self.plugins, settings=self.settings, folder=folder) as kernel:
            yield kernel.services.providers.get(self.kind, self.provider)


async def close(provider: object) -> None:
    """Close a provider that can be closed, as its kernel does."""
    aclose = getattr(provider, "aclose", None)
    if aclose is not None:
        await aclose()
