"""Embedding models by their names, at whichever provider: one row each.

Sources: the model cards of their makers, and for `context` of those that Ollama offers its library.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

_PASSAGES = "Represent this sentence for searching relevant passages: "
_TASK = "Given a question, retrieve passages that answer it"
_INSTRUCT = f"Instruct: {_TASK}\nQuery: "
_GENERAL = re.compile(r"embed|\bbge-|\bgte-|\be5-|minilm|mpnet", re.IGNORECASE)


@dataclass(frozen=True, slots=True)
class EmbeddingRow:
    """An embedding model.

    Args:
        name: part of its name, as a regular expression.
        dimension: length of its vectors; 0 for several sizes under one name.
        context: most tokens of a text; 0 when that is not known.
        query: put before a question.
        document: put before a text that is searched.
        shortens: whether the first numbers of a vector are a useful vector.
    """

    name: str
    dimension: int = 0
    context: int = 0
    query: str = ""
    document: str = ""
    shortens: bool = False


ROWS: tuple[EmbeddingRow, ...] = (
    EmbeddingRow("text-embedding-3-small", 1536, 8192, shortens=True),
    EmbeddingRow("text-embedding-3-large", 3072, 8192, shortens=True),
    EmbeddingRow("text-embedding-ada-002", 1536, 8192),
    EmbeddingRow("mistral-embed", 1024, 8192),
    EmbeddingRow("codestral-embed", 1536, 8192),
    EmbeddingRow("qwen3-embedding([-:]8b|:latest|$)", 4096, 32_768, query=_INSTRUCT, shortens=True),
    EmbeddingRow("qwen3-embedding[-:]4b", 2560, 32_768, _INSTRUCT, shortens=True),
    EmbeddingRow("qwen3-embedding[-:]0[.p]6b", 1024, 32_768, _INSTRUCT, shortens=True),
    EmbeddingRow("qwen3-embedding", 0, 32_768, _INSTRUCT),
    EmbeddingRow("nomic-embed-text-v2", 768, 512, "search_query: ", "search_document: "),
    EmbeddingRow("nomic-embed-text", 768, 2048, "search_query: ", "search_document: "),
    EmbeddingRow("nomic-embed", 0, 0, "search_query: ", "search_document: "),
    EmbeddingRow("mxbai-embed-large", 1024, 512, _PASSAGES),
    EmbeddingRow(
        "embedding-?gemma",
        768,
        2048,
        "task: search result | query: ",
        "title: none | text: ",
        shortens=True,
    ),
    EmbeddingRow("bge-m3", 1024, 8192),
    EmbeddingRow("bge-en-icl", 4096, 32_768, f"<instruct>{_TASK}\n<query>"),
    EmbeddingRow("bge-multilingual-gemma2", 3584, 8192, f"<instruct>{_TASK}\n<query>"),
    EmbeddingRow("bge-large-en", 1024, 512, _PASSAGES),
    EmbeddingRow("bge-base-en", 768, 512, _PASSAGES),
    EmbeddingRow("bge-small-en", 384, 512, _PASSAGES),
    EmbeddingRow("e5-mistral-7b", 4096, 4096, _INSTRUCT),
    EmbeddingRow(r"\be5-large-instruct", 1024, 512, _INSTRUCT),
    EmbeddingRow(r"\be5-large", 1024, 512, "query: ", "passage: "),
    EmbeddingRow(r"\be5-base", 768, 512, "query: ", "passage: "),
    EmbeddingRow(r"\be5-small", 384, 512, "query: ", "passage: "),
    EmbeddingRow(r"\be5-", 0, 512, "query: ", "passage: "),
    EmbeddingRow("arctic-embed2|arctic-embed-l-v2", 1024, 8192, "query: "),
    EmbeddingRow("arctic-embed-m-v2", 768, 8192, "query: "),
    EmbeddingRow("arctic-embed", 0, 512, _PASSAGES),
    EmbeddingRow("uae-large", 1024, 512, _PASSAGES),
    EmbeddingRow("gte-large", 1024, 512),
    EmbeddingRow("gte-base", 768, 512),
    EmbeddingRow("all-minilm", 384, 256),
    EmbeddingRow("all-mpnet-base", 768, 384),
)
"""The first row whose name fits counts."""


def embedding_row(model: str) -> EmbeddingRow:
    """The row of a model; one of nothing but its name when it is not known."""
    for row in ROWS:
        if re.search(row.name, model, re.IGNORECASE):
            return row
    return EmbeddingRow(model)


def does_embed(model: str) -> bool:
    """True for what an embedding model is called."""
    return embedding_row(model) in ROWS or bool(_GENERAL.search(model))


def prefix_of(model: str, purpose: str) -> str:
    """The beginning that tells an embedding model what a text is for; empty for most."""
    row = embedding_row(model)
    return row.query if purpose == "query" else row.document
