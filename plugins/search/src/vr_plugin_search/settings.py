"""The plugin's own configuration section, `[plugins.search]`."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from vr_kernel import EnvAlias, Section

WEB_ORDER = ("gemini", "perplexity", "brave", "tavily", "exa", "searxng")
"""Services that search the web, in the order in which they are asked."""
PAPER_ORDER = ("semantic_scholar", "openalex", "arxiv")
"""Services that search papers."""
GROUNDING = "https://vertexaisearch.cloud.google.com/grounding-api-redirect/"
"""Addresses that Gemini gives instead of those of pages; they are valid for some weeks."""
_ADDRESS = r"^https?://[^/?#@\s]+(/[^?#@\s]*)?$"
_NO_KEY = SecretStr("")


def _listed(value: object) -> object:
    """A list, also of names with commas between them."""
    if isinstance(value, str):
        return [part.strip() for part in value.split(",") if part.strip()]
    return value


Address = Annotated[str, Field(pattern=_ADDRESS), AfterValidator(lambda it: it.rstrip("/"))]
Names = Annotated[list[str], BeforeValidator(_listed)]


class SearchSettings(Section):
    """Settings of the search tools."""

    order: Names = Field(
        [*WEB_ORDER], description="Services that search the web, in the order they are asked."
    )
    asked_at_once: int = Field(
        1, ge=1, le=10, description="Services of that order whose answers are joined."
    )
    paper_order: Names = Field(
        [*PAPER_ORDER], description="Services that search papers, in the order they are asked."
    )
    papers_asked_at_once: int = Field(
        3, ge=1, le=10, description="Services of that order whose answers are joined."
    )
    gemini_redirects: str = Field(
        GROUNDING,
        description="Links of Gemini that are followed to the pages they stand for; empty: none.",
    )
    perplexity_api_key: Annotated[
        SecretStr, EnvAlias("PERPLEXITY_API_KEY"), EnvAlias("PPLX_API_KEY")
    ] = Field(_NO_KEY, description="Key of Perplexity.")
    perplexity_base_url: Address = Field(
        "https://api.perplexity.ai", description="Another address of Perplexity."
    )
    brave_api_key: Annotated[
        SecretStr, EnvAlias("BRAVE_API_KEY"), EnvAlias("BRAVE_SEARCH_API_KEY")
    ] = Field(_NO_KEY, description="Key of Brave Search.")
    brave_base_url: Address = Field(
        "https://api.search.brave.com/res/v1", description="Another address of Brave Search."
    )
    tavily_api_key: Annotated[SecretStr, EnvAlias("TAVILY_API_KEY")] = Field(
        _NO_KEY, description="Key of Tavily."
    )
    tavily_base_url: Address = Field(
        "https://api.tavily.com", description="Another address of Tavily."
    )
    exa_api_key: Annotated[SecretStr, EnvAlias("EXA_API_KEY")] = Field(
        _NO_KEY, description="Key of Exa."
    )
    exa_base_url: Address = Field("https://api.exa.ai", description="Another address of Exa.")
    searxng_url: Annotated[
        str,
        Field(pattern=rf"{_ADDRESS}|^$"),
        AfterValidator(lambda it: it.rstrip("/")),
        EnvAlias("SEARXNG_URL"),
    ] = Field("", description="Address of your SearXNG, such as http://localhost:8080.")
    openalex_api_key: Annotated[SecretStr, EnvAlias("OPENALEX_API_KEY")] = Field(
        _NO_KEY, description="Key of OpenAlex; it is free, and allows more searches."
    )
    openalex_mailto: Annotated[str, EnvAlias("OPENALEX_MAILTO")] = Field(
        "", description="Your mail address, which OpenAlex asks for; optional."
    )
    openalex_base_url: Address = Field(
        "https://api.openalex.org", description="Another address of OpenAlex."
    )
    semantic_scholar_api_key: Annotated[
        SecretStr, EnvAlias("SEMANTIC_SCHOLAR_API_KEY"), EnvAlias("S2_API_KEY")
    ] = Field(_NO_KEY, description="Key of Semantic Scholar; without one all users share a limit.")
    semantic_scholar_base_url: Address = Field(
        "https://api.semanticscholar.org", description="Another address of Semantic Scholar."
    )
    arxiv_base_url: Address = Field(
        "https://export.arxiv.org/api", description="Another address of arXiv."
    )
