"""The relations of a paper: Semantic Scholar is asked, OpenAlex where it does not answer."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from vr_kernel import Call, Code, Services, VrError

from vr_plugin_search.addresses.identifiers import PaperId, Scheme
from vr_plugin_search.engines.openalex import OpenAlex
from vr_plugin_search.engines.semantic_scholar import SemanticScholar
from vr_plugin_search.joining.asking import ask_in_order
from vr_plugin_search.papers.paper_query import FoundPapers
from vr_plugin_search.results.papers import Direction, Paper, PaperCitations

Find = Callable[[PaperId, int], Awaitable[FoundPapers]]


class Relations:
    """Finds the papers that stand in a relation to one.

    Args:
        call: for whom it works.
        services: of this plugin.
    """

    def __init__(self, call: Call, services: Services) -> None:
        self._call = call
        self._log = services.log
        self._graph = SemanticScholar(services)
        self._catalogue = OpenAlex(services)

    async def of(self, paper: PaperId, direction: Direction, limit: int) -> PaperCitations:
        """Return the papers.

        Raises:
            VrError: NOT_FOUND when no service knows the paper; UNAVAILABLE when none answers;
                UNSUPPORTED when none can be asked.
        """
        asked = await self._asked(paper, direction, limit)
        if not asked:
            raise _not_asked(paper, direction)

        async def ask(name: str) -> FoundPapers:
            return await asked[name]()

        found = await ask_in_order([*asked], 1, ask, self._log)
        (name, answer), *_ = found.answers.items()
        notes = [*found.notes, *answer.notes]
        other = self._catalogue.name
        if not answer.papers and name != other and other in asked:  # a publisher may hide them
            more = await self._instead(asked[other])
            if more.papers:
                notes.append(f"{name} has none.")
                name, answer = other, more
        return PaperCitations(
            paper_id=paper.value,
            direction=direction,
            papers=[*answer.papers[:limit]],
            providers=[name],
            notes=notes,
        )

    async def _asked(
        self, paper: PaperId, direction: Direction, limit: int
    ) -> Mapping[str, Callable[[], Awaitable[FoundPapers]]]:
        """The services that can be asked, in order, each with what asks it."""
        asked: dict[str, Callable[[], Awaitable[FoundPapers]]] = {}
        known = await self._for_graph(paper)
        if known is not None:
            find = self._of_graph(direction)
            step = f"{direction}/{self._graph.name}/{limit}/{known.key}"
            work = partial(find, known, limit)
            asked[self._graph.name] = partial(self._graph.kept, self._call, step, work)
        other = self._of_catalogue(direction)
        if other is not None and paper.scheme in self._catalogue.knows:
            step = f"{direction}/{self._catalogue.name}/{limit}/{paper.key}"
            work = partial(other, paper, limit)
            asked[self._catalogue.name] = partial(self._catalogue.kept, self._call, step, work)
        return asked

    def _of_graph(self, direction: Direction) -> Find:
        return {
            "citations": self._graph.citations,
            "references": self._graph.references,
            "recommendations": self._graph.recommendations,
        }[direction]

    def _of_catalogue(self, direction: Direction) -> Find | None:
        return {
            "citations": self._catalogue.citations,
            "references": self._catalogue.references,
        }.get(direction)

    async def _for_graph(self, paper: PaperId) -> PaperId | None:
        """The identifier by which Semantic Scholar knows a paper; None where none is known."""
        if paper.scheme in self._graph.knows:
            return paper
        try:
            found = await self._catalogue.look_up(self._call, paper)
        except VrError as error:
            self._log.info("a paper's identifiers are not known", reason=error.message)
            return None
        return _identifier(found.papers[0]) if found.papers else None

    async def _instead(self, ask: Callable[[], Awaitable[FoundPapers]]) -> FoundPapers:
        try:
            return await ask()
        except VrError as error:
            return FoundPapers(notes=(error.message,))


def _identifier(paper: Paper) -> PaperId | None:
    known: list[tuple[Scheme, str]] = [("doi", paper.doi), ("arxiv", paper.arxiv)]
    return next((PaperId(scheme, value) for scheme, value in known if value), None)


def _not_asked(paper: PaperId, direction: Direction) -> VrError:
    return VrError(
        f"No service finds {direction} by {paper.value}.",
        Code.UNSUPPORTED,
        hint="Give the DOI or the arXiv number of the paper.",
    )
