"""The services: one row each, as settings, health and errors need them.

Sources, read on 2026-11-28: the services' own references of their APIs. Gemini is asked through
the models of this program, and has no row for its address.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

Subject = Literal["web", "papers"]


@dataclass(frozen=True, slots=True, kw_only=True)
class ServiceRow:
    """A service.

    Args:
        name: in configuration, as a provider, and of its settings.
        title: as people call it.
        finds: pages of the web, or papers.
        address: the setting with its base URL.
        key: the setting with its key; empty when it has none.
        needs_key: it answers nobody without a key.
        page: where a key is made, or where it is told how to run the service.
    """

    name: str
    title: str
    finds: Subject = "web"
    address: str = ""
    key: str = ""
    needs_key: bool = False
    page: str = ""


GEMINI = ServiceRow(name="gemini", title="Gemini", page="https://aistudio.google.com/apikey")
PERPLEXITY = ServiceRow(
    name="perplexity",
    title="Perplexity",
    address="perplexity_base_url",
    key="perplexity_api_key",
    needs_key=True,
    page="https://www.perplexity.ai/settings/api",
)
BRAVE = ServiceRow(
    name="brave",
    title="Brave Search",
    address="brave_base_url",
    key="brave_api_key",
    needs_key=True,
    page="https://api-dashboard.search.brave.com",
)
TAVILY = ServiceRow(
    name="tavily",
    title="Tavily",
    address="tavily_base_url",
    key="tavily_api_key",
    needs_key=True,
    page="https://app.tavily.com",
)
EXA = ServiceRow(
    name="exa",
    title="Exa",
    address="exa_base_url",
    key="exa_api_key",
    needs_key=True,
    page="https://dashboard.exa.ai/api-keys",
)
SEARXNG = ServiceRow(
    name="searxng",
    title="SearXNG",
    address="searxng_url",
    page="https://docs.searxng.org/admin/installation.html",
)
SEMANTIC_SCHOLAR = ServiceRow(
    name="semantic_scholar",
    title="Semantic Scholar",
    finds="papers",
    address="semantic_scholar_base_url",
    key="semantic_scholar_api_key",
    page="https://www.semanticscholar.org/product/api",
)
OPENALEX = ServiceRow(
    name="openalex",
    title="OpenAlex",
    finds="papers",
    address="openalex_base_url",
    key="openalex_api_key",
    page="https://openalex.org/settings/api",
)
ARXIV = ServiceRow(name="arxiv", title="arXiv", finds="papers", address="arxiv_base_url")
ROWS: Mapping[str, ServiceRow] = {
    row.name: row
    for row in (
        *(GEMINI, PERPLEXITY, BRAVE, TAVILY, EXA, SEARXNG),
        *(SEMANTIC_SCHOLAR, OPENALEX, ARXIV),
    )
}
"""All rows by name."""
