"""Embeddings of many texts, requested in batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence

from vr_kernel.errors import VrError
from vr_kernel.generation import Embeddings, Usage

BATCH = 100
"""Most texts per request. Source: "Embeddings" of the Gemini API; other makers take more."""


async def embed_in_batches(
    model: str, items: Sequence[str], ask: Callable[[Sequence[str]], Awaitable[Embeddings]]
) -> Embeddings:
    """One vector per item, in order, from as many requests as needed; empty for no items.

    Raises:
        VrError: what `ask` raises, with what was paid until then.
    """
    whole = Embeddings(vectors=[], model=model)
    for start in range(0, len(items), BATCH):
        try:
            made = await ask(items[start : start + BATCH])
        except VrError as error:
            if start:
                error.usage = whole.usage + (error.usage or Usage())
            raise
        whole.vectors += made.vectors
        whole.usage += made.usage
        whole.model = made.model
    return whole
