"""Parts of tests of this plugin: kernels with it before the fake services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

from fake_search import FakeSearch
from vr_kernel import Call, SearchProvider, WebQuery, WebResults
from vr_plugin_search import plugin
from vr_testing import TrialKernel, open_kernel


class Desk:
    """A kernel with the plugin, and the services that it asks."""

    def __init__(self, kernel: TrialKernel, fake: FakeSearch) -> None:
        self.kernel = kernel
        self.fake = fake

    async def call(self, tool: str, /, **arguments: Any) -> Any:
        """Call a tool."""
        return await self.kernel.call(tool, **arguments)

    async def search(self, name: str, query: str, **more: Any) -> WebResults:
        """Search with one provider, as another plugin does."""
        async with self.turn() as call:
            provider = call.services.providers.get(SearchProvider, name)
            return await provider.search(call, WebQuery(query, **more))

    @asynccontextmanager
    async def turn(self) -> AsyncIterator[Call]:
        """A call of this plugin."""
        async with self.kernel.turn("search", "kit_search", "turn-1") as call:
            yield call

    @property
    def asked(self) -> list[str]:
        """The services that were asked, in order."""
        return [request.action for request in self.fake.requests]


@asynccontextmanager
async def open_desk(
    fake: FakeSearch,
    *names: str,
    settings: Mapping[str, object] | None = None,
    plugins: Mapping[str, object] | None = None,
    folder: Path | None = None,
    **more: Any,
) -> AsyncIterator[Desk]:
    """Open a kernel with the plugin; these services are set up."""
    given = {**fake.settings(*names), **(settings or {})}
    loaded = {"search": plugin, **(plugins or {})}
    async with open_kernel(loaded, settings=given, folder=folder, **more) as kernel:
        yield Desk(kernel, fake)
