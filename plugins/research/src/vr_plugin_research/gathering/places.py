"""The places that are searched: the web, papers, and what was learned before."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Literal, Protocol

from vr_kernel import Call, Code, Query, SearchProvider, VrError, WebQuery, WebResult

from vr_plugin_research.dossier.entries import Found
from vr_plugin_research.results.sources import SourceKind

PlaceName = Literal["web", "papers", "knowledge"]
PLACES: tuple[PlaceName, ...] = ("web", "papers", "knowledge")
CATCH_UP_S = 2.0
_KIND: Mapping[str, SourceKind] = {"web": "web", "papers": "paper"}


class Place(Protocol):
    """A place that can be searched."""

    name: PlaceName

    async def search(self, call: Call, query: str, limit: int) -> list[Found]:
        """The results, best first, with the id 0.

        Raises:
            VrError: what the service says.
        """


class SearchedWeb:
    """The web or papers, by the provider that is preferred for them."""

    def __init__(self, name: Literal["web", "papers"], provider: str) -> None:
        self.name: PlaceName = name
        self._provider = provider

    async def search(self, call: Call, query: str, limit: int) -> list[Found]:
        """The results of the provider."""
        provider = call.services.providers.get(SearchProvider, self._provider)
        results = await provider.search(call, WebQuery(query, limit))
        for note in results.notes:
            call.note(note)
        return [_found(each, query, _KIND[self.name]) for each in results.results]


class SearchedKnowledge:
    """The sources of what was recorded before; what a model wrote is no source."""

    name: PlaceName = "knowledge"

    async def search(self, call: Call, query: str, limit: int) -> list[Found]:
        """The sources whose passages are nearest to the query."""
        services = call.services
        await services.store.catch_up(CATCH_UP_S)
        kinds = {k.name: k for k in services.kinds.values() if not k.derived and k.source}
        vector = await services.vectors.embed_query(query) if services.vectors.available() else None
        asked = Query(
            query, vector=vector, kinds=tuple(kinds), limit=limit, workspace=services.workspace
        )
        found: dict[str, Found] = {}
        for hit in await services.store.search(asked):
            kind, fields = kinds[hit.record.kind], hit.record.fields
            source = str(fields.get(kind.source or "") or "")
            if not source or source in found or len(found) == limit:
                continue
            found[source] = Found(
                id=0,
                round=0,
                address=source,
                title=str(fields.get(kind.title or "") or source)[:300],
                snippet=str(fields.get(kind.rerank) or "")[:500],
                query=query,
                kind="record",
            )
        return [*found.values()]


def places_of(call: Call, wanted: Sequence[PlaceName]) -> tuple[list[Place], list[str]]:
    """The places that can be searched here, and remarks on those that cannot."""
    places: list[Place] = []
    notes: list[str] = []
    providers = _by_kind(call)
    for name in dict.fromkeys(wanted):
        if name == "knowledge":
            if call.services.store.available():
                places.append(SearchedKnowledge())
            else:
                notes.append("Nothing that was learned before is searched: no store is installed.")
        elif provider := providers.get(name):
            places.append(SearchedWeb(name, provider))
        else:
            what = "The web is not" if name == "web" else "No index of papers is"
            notes.append(f"{what} searched: pip install vr-plugin-search")
    return places, notes


def _by_kind(call: Call) -> dict[str, str]:
    """The preferred provider of each kind of search; one that cannot be made is none."""
    found: dict[str, str] = {}
    providers = call.services.providers
    for name in providers.names(SearchProvider):
        try:
            finds = providers.get(SearchProvider, name).finds
        except VrError as error:
            if error.code is Code.INVALID_INPUT:
                raise
            continue
        for kind in finds:
            found.setdefault(kind, name)
    return found


def _found(result: WebResult, query: str, kind: SourceKind) -> Found:
    return Found(
        id=0,
        round=0,
        address=str(result.details.get("pdf") or result.url) if kind == "paper" else result.url,
        title=result.title,
        snippet=result.snippet,
        query=query,
        published=result.published.isoformat() if result.published else "",
        kind=kind,
        details={k: v for k, v in result.details.items() if isinstance(v, str | int | float)},
    )
