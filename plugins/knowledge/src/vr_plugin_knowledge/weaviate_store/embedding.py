"""Makes vectors for objects before they are written, as many as the time allows."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from contextlib import suppress

from vr_kernel import Vectors

from vr_plugin_knowledge.matching.embeddings import pack_vector
from vr_plugin_knowledge.weaviate_store.objects import Item

EMBED_BUDGET_S = 1.0
"""Seconds that a batch waits for vectors; objects without one are written, and get it later. A
replay has all of them at once, as they are kept beside the journal.
"""
EMBED_BATCH = 16


async def embed_items(vectors: Vectors, items: Sequence[Item]) -> None:
    """Give as many items their vectors as the time allows."""
    with suppress(TimeoutError):
        async with asyncio.timeout(EMBED_BUDGET_S):
            for start in range(0, len(items), EMBED_BATCH):
                if not vectors.available():
                    return
                if not await _embed_batch(vectors, items[start : start + EMBED_BATCH]):
                    return


async def _embed_batch(embeddings: Vectors, items: Sequence[Item]) -> bool:
    try:
        vectors = await embeddings.embed_documents([item.text for item in items])
    except Exception:  # noqa: BLE001 - an embedder is a plugin's code; the indexer tries again and tells
        return False
    for item, vector in zip(items, vectors, strict=True):
        if pack_vector(vector, embeddings.dimension) is not None:
            item.vector = vector
    return True
