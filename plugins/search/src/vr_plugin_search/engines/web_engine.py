"""The base of the services that search the web."""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import asdict
from functools import partial
from typing import Any, ClassVar

from vr_kernel import Call, Services, WebQuery, WebResults, cache_key

from vr_plugin_search.engines.kept_results import packed, unpacked
from vr_plugin_search.engines.service import Service
from vr_plugin_search.engines.service_rows import ServiceRow


class WebEngine(ABC):
    """A `SearchProvider`: asks its service, and commits what it found before it returns it.

    Every search is a step of its call, also where it costs nothing: work that is done again after a
    crash goes on with the same results.
    """

    row: ClassVar[ServiceRow]

    def __init__(self, services: Services) -> None:
        self.service = Service(services, self.row)

    @property
    def name(self) -> str:
        """Its name."""
        return self.row.name

    @property
    def finds(self) -> frozenset[str]:
        """It finds pages of the web."""
        return frozenset({self.row.finds})

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return what the service found; see `SearchProvider.search`."""
        self.service.require_ready()
        call.progress(0, None, f"Asking {self.row.title}")
        kept = await call.step(self._step(query), partial(self._committed, query))
        return unpacked(kept)

    @abstractmethod
    async def ask(self, query: WebQuery) -> WebResults:
        """Ask the service, and return what it found.

        Raises:
            VrError: for what the service says.
        """

    async def _committed(self, query: WebQuery) -> dict[str, Any]:
        return packed(await self.ask(query))

    def _step(self, query: WebQuery) -> str:
        return f"search/{self.name}/{cache_key(**asdict(query))}"
