"""The joined search of papers, itself a provider."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any

from vr_kernel import Call, SearchProvider, Services, VrError, WebQuery, WebResults

from vr_plugin_search.addresses.canonical import canonical
from vr_plugin_search.addresses.identifiers import PaperId
from vr_plugin_search.engines.paper_engine import PaperEngine
from vr_plugin_search.engines.queries import first_day
from vr_plugin_search.joining.asking import Round, ask_in_order
from vr_plugin_search.joining.fusion import fuse
from vr_plugin_search.joining.order import PAPERS, order_of
from vr_plugin_search.papers.paper_query import FoundPapers, PaperQuery, is_by, since
from vr_plugin_search.papers.web_results import as_paper, as_results
from vr_plugin_search.results.papers import Paper
from vr_plugin_search.settings import SearchSettings


@dataclass(frozen=True, slots=True)
class JoinedPapers:
    """Joined papers, and the services that answered."""

    found: FoundPapers
    providers: tuple[str, ...]


class JoinedPaperSearch:
    """A `SearchProvider` for papers that asks others and joins their results."""

    name = PAPERS
    finds = frozenset({PAPERS})

    def __init__(self, services: Services) -> None:
        self._services = services
        self._settings: SearchSettings = services.settings

    async def search(self, call: Call, query: WebQuery) -> WebResults:
        """Return the papers that services found; see `SearchProvider.search`."""
        order = order_of(self._services, PAPERS, self._settings.paper_order)
        wanted = self._settings.papers_asked_at_once
        found = (await self.find(call, PaperQuery(query), order.names, wanted)).found
        return as_results(query, replace(found, notes=(*order.notes, *found.notes)))

    async def find(
        self, call: Call, query: PaperQuery, names: Sequence[str], wanted: int
    ) -> JoinedPapers:
        """Ask services until so many have answered, and join their papers.

        Raises:
            VrError: as `ask_in_order`.
        """

        async def ask(name: str) -> FoundPapers:
            provider = self._services.providers.get(SearchProvider, name)
            if isinstance(provider, PaperEngine):
                return await provider.find(call, query)
            return _of_others(name, query, await provider.search(call, query.web))

        found = await ask_in_order(names, wanted, ask, self._services.log)
        return joined(found, [name for name in names if name in found.answers], query.web.limit)

    async def look_up(self, call: Call, paper: PaperId, names: Sequence[str]) -> JoinedPapers:
        """Ask the services that know such an identifier, and join what they say of the paper.

        Raises:
            VrError: as `ask_in_order`.
        """
        found_by = {name: self._engine(name) for name in names}
        engines = {
            name: engine
            for name, engine in found_by.items()
            if engine is not None and paper.scheme in engine.knows
        }

        async def ask(name: str) -> FoundPapers:
            return await engines[name].look_up(call, paper)

        found = await ask_in_order([*engines], len(engines) or 1, ask, self._services.log)
        return joined(found, [name for name in engines if name in found.answers], 1)

    def _engine(self, name: str) -> PaperEngine | None:
        """The service of that name, if it is one that looks papers up."""
        try:
            provider = self._services.providers.get(SearchProvider, name)
        except VrError:
            return None
        return provider if isinstance(provider, PaperEngine) else None


def joined(found: Round[FoundPapers], order: Sequence[str], limit: int) -> JoinedPapers:
    """Join the papers of services."""
    lists = [found.answers[name].papers for name in order]
    papers = [merged(forms) for forms in fuse(lists, identities)]
    notes = [note for name in order for note in found.answers[name].notes]
    told = FoundPapers(tuple(papers[:limit]), (*found.notes, *notes))
    return JoinedPapers(told, tuple(order))


def identities(paper: Paper) -> list[str]:
    """The names by which a paper is known as the same as another one."""
    names = [canonical(paper.url)]
    if paper.doi:
        names.append(PaperId("doi", paper.doi).url)
    if paper.arxiv:
        names.append(PaperId("arxiv", paper.arxiv).url)
    return names


def merged(forms: Sequence[Paper]) -> Paper:
    """One paper with all that its forms say; where they differ, the first one counts."""
    said: dict[str, Any] = {
        name: next((value for form in forms if (value := getattr(form, name))), default)
        for name, default in (
            ("authors", []),
            ("year", None),
            ("venue", ""),
            ("abstract", ""),
            ("pdf", ""),
            ("doi", ""),
            ("arxiv", ""),
            ("published", ""),
            ("id", ""),
        )
    }
    known = [form.citations for form in forms if form.citations is not None]
    told = [form.retracted for form in forms if form.retracted is not None]
    return forms[0].model_copy(
        update={
            **said,
            "citations": max(known, default=None),
            "retracted": any(told) if told else None,
            "provider": ", ".join(dict.fromkeys(form.provider for form in forms)),
        }
    )


def _of_others(name: str, query: PaperQuery, found: WebResults) -> FoundPapers:
    """The papers of another plugin's provider that are as narrow as was asked for."""
    papers = [paper for each in found.results if (paper := as_paper(name, each))]
    first = first_day(query.web.recency)
    kept = [
        paper
        for paper in papers
        if (not query.author or is_by(paper, query.author))
        and (query.years is None or query.years.holds(paper.year))
        and (not query.open_access_only or paper.pdf)
        and since(paper, first)
    ]
    notes = [*found.notes]
    if query.fields and kept:
        notes.append(f"{name} knows no fields of study: its papers may be of others.")
    return FoundPapers(tuple(kept), tuple(notes))
