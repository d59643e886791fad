"""The plugin's own configuration section, `[plugins.knowledge]`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

from pydantic import AfterValidator, BeforeValidator, Field, SecretStr
from vr_kernel import Call, EnvAlias

from vr_plugin_knowledge.weaviate_store.settings import WeaviateSettings

COHERE = "cohere"
Secret = Annotated[SecretStr, BeforeValidator(lambda v: v.strip() if isinstance(v, str) else v)]
Switch = Annotated[bool | None, BeforeValidator(lambda v: None if v in ("", "auto") else v)]
"""On, off, or empty: what else is configured decides."""


def _whole_path(value: str) -> str:
    path = Path(value).expanduser() if value.strip() else None
    if path is not None and not path.is_absolute():
        raise ValueError("give the whole path of the folder, such as ~/notes")
    return str(path) if path is not None else ""


def _split(value: object) -> object:
    if not isinstance(value, str):
        return value
    return [part.strip() for part in value.split(",") if part.strip()]


class KnowledgeSettings(WeaviateSettings):
    """Refinement of searches. Paid services are asked only when they are configured here."""

    reranker_enabled: Annotated[Switch, EnvAlias("RERANKER_ENABLED")] = Field(
        None,
        description="Whether search results are reranked; empty: with a Cohere key, or when"
        " another reranker is named.",
    )
    reranker_provider: Annotated[str, EnvAlias("RERANKER_PROVIDER")] = Field(
        COHERE,
        min_length=1,
        max_length=100,
        description="cohere, model (the language model as judge), flashrank, fastembed, or the"
        " name of another plugin's reranker.",
    )
    reranker_model: str = Field(
        "", max_length=200, description="The reranker's model; empty: its own default."
    )
    cohere_api_key: Annotated[Secret, EnvAlias("COHERE_API_KEY")] = Field(
        SecretStr(""), description="Key of the Cohere API."
    )
    cohere_base_url: str = Field(
        "https://api.cohere.com", max_length=1000, description="Where the Cohere API is."
    )
    flash_summarize: Annotated[bool, EnvAlias("FLASH_SUMMARIZE")] = Field(
        False, description="Let a fast model summarise the hits of each search; costs a call."
    )
    refining_deadline_s: float = Field(
        10.0,
        gt=0,
        le=600,
        description="Seconds that a search waits for an embedder, a reranker, a summary: for each.",
    )
    notes_folder: Annotated[str, AfterValidator(_whole_path)] = Field(
        "",
        max_length=4096,
        description="Folder of your Markdown notes: results are written into it, and"
        " knowledge_search finds what you write there. Empty: none.",
    )
    graph_collections: Annotated[list[str], BeforeValidator(_split)] = Field(
        [],
        max_length=100,
        description="Collections, such as VideoAnalyses, whose new records a model reads for the"
        " knowledge graph; each record costs a call. Empty: none.",
    )
    embedding_dimension: int = Field(
        768,
        ge=32,
        le=16_384,
        description="Length of the vectors of the embedder model, where its model can shorten its"
        " own, or where their length is not known.",
    )


def settings_of(call: Call) -> KnowledgeSettings:
    """The settings of a call; the defaults when another plugin offers the tools."""
    given = call.settings
    return given if isinstance(given, KnowledgeSettings) else KnowledgeSettings()
