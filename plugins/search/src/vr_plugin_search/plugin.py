"""The plugin's hooks; importing this module imports no service."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from importlib import import_module
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel
from vr_kernel import Check, Provider, RecordKind, Services, hookimpl

from vr_plugin_search.record_kinds import ACADEMIC_PAPERS, WEB_SEARCH_RESULTS
from vr_plugin_search.settings import SearchSettings
from vr_plugin_search.tools.paper_citations import paper_citations
from vr_plugin_search.tools.paper_search import paper_search
from vr_plugin_search.tools.web_search import web_search

if TYPE_CHECKING:
    from vr_kernel import SearchProvider

PROVIDERS: Mapping[str, tuple[str, int]] = {
    "web": ("joining.web_search:JoinedSearch", 50),
    "papers": ("joining.paper_search:JoinedPaperSearch", 40),
    "gemini": ("engines.gemini:Gemini", 0),
    "perplexity": ("engines.perplexity:Perplexity", 0),
    "brave": ("engines.brave:Brave", 0),
    "tavily": ("engines.tavily:Tavily", 0),
    "exa": ("engines.exa:Exa", 0),
    "searxng": ("engines.searxng:SearXNG", 0),
    "semantic_scholar": ("engines.semantic_scholar:SemanticScholar", 0),
    "openalex": ("engines.openalex:OpenAlex", 0),
    "arxiv": ("engines.arxiv:Arxiv", 0),
}
"""The class of each provider, and its preference; other plugins get the joined ones unasked."""


@hookimpl
def vr_settings() -> type[BaseModel]:
    """`[plugins.search]`."""
    return SearchSettings


@hookimpl
def vr_tools() -> list[Callable[..., Any]]:
    """The tools."""
    return [web_search, paper_search, paper_citations]


@hookimpl
def vr_record_kinds() -> list[RecordKind]:
    """The kinds of records."""
    return [WEB_SEARCH_RESULTS, ACADEMIC_PAPERS]


@hookimpl
def vr_views() -> list[Callable[..., Any]]:
    """The views of results and records."""
    from vr_plugin_search.views.declared import VIEWS

    return [*VIEWS]


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The joined searches, and each service by itself."""
    return [
        Provider("SearchProvider", name, _factory(place), preference, of_call=True)
        for name, (place, preference) in PROVIDERS.items()
    ]


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """The checks of `vr doctor`."""
    from vr_plugin_search.health import search_checks

    return search_checks(services)


def _factory(place: str) -> Callable[[Services], SearchProvider]:
    module, _, name = place.partition(":")

    def make(services: Services) -> SearchProvider:
        made: SearchProvider = getattr(import_module(f"{__package__}.{module}"), name)(services)
        return made

    return make
