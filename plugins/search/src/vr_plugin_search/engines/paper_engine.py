"""The base of the services that search papers."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Awaitable, Callable, Iterable, Sequence
from dataclasses import replace
from typing import Any, ClassVar

from vr_kernel import Call, Services, WebQuery, WebResults, cache_key

from vr_plugin_search.addresses.identifiers import PaperId, Scheme
from vr_plugin_search.engines.service import Service
from vr_plugin_search.engines.service_rows import ServiceRow
from vr_plugin_search.papers.paper_query import FoundPapers, PaperQuery
from vr_plugin_search.papers.web_results import as_results
from vr_plugin_search.results.papers import Paper

Work = Callable[[], Awaitable[FoundPapers]]


class PaperEngine(ABC):
    """A `SearchProvider` for papers, which also looks one up; every request is a step."""

    row: ClassVar[ServiceRow]
    knows: ClassVar[frozenset[Scheme]]
    """The identifiers by which it finds a paper."""

    def __init__(self, services: Services) -> None:
        self.service = Service(services, self.row)

    @property
    def name(self) -> str:
        """Its name."""
        return self.row.name

    @property
    def finds(self) -> frozenset[str]:
        """It finds papers."""
        return frozenset({self.row.finds})

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return the papers that the service found; see `SearchProvider.search`."""
        return as_results(query, await self.find(call, PaperQuery(query)))

    async def find(self, call: Call, query: PaperQuery) -> FoundPapers:
        """Return the papers that the service found for a search.

        Raises:
            VrError: for what the service says.
        """
        key = cache_key(**query.identity)
        found = await self.kept(call, f"search/{self.name}/{key}", lambda: self.ask(query))
        allowed = [paper for paper in found.papers if query.web.allows(paper.url)]
        return replace(found, papers=tuple(allowed[: query.web.limit]))

    async def look_up(self, call: Call, paper: PaperId) -> FoundPapers:
        """Return the paper with an identifier; none when the service does not know it.

        Raises:
            VrError: for what the service says.
        """
        return await self.kept(call, f"paper/{self.name}/{paper.key}", lambda: self.ask_for(paper))

    @abstractmethod
    async def ask(self, query: PaperQuery) -> FoundPapers:
        """Ask the service for papers."""

    @abstractmethod
    async def ask_for(self, paper: PaperId) -> FoundPapers:
        """Ask the service for one paper."""

    async def kept(self, call: Call, step: str, work: Work) -> FoundPapers:
        """Do some work, and commit what it found before it is returned."""
        self.service.require_ready()
        call.progress(0, None, f"Asking {self.row.title}")

        async def committed() -> dict[str, Any]:
            found = await work()
            papers = [paper.model_dump(mode="json") for paper in found.papers]
            return {"papers": papers, "notes": [*found.notes]}

        kept = await call.step(step, committed)
        papers = tuple(Paper.model_validate(each) for each in kept["papers"])
        return FoundPapers(papers, tuple(kept["notes"]))


def gathered(papers: Iterable[Paper | None], notes: Sequence[str] = ()) -> FoundPapers:
    """The papers that could be made."""
    return FoundPapers(tuple(paper for paper in papers if paper is not None), tuple(notes))
