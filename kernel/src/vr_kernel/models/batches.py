"""Embeddings of many items, requested in batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.generation import Embeddings, Usage

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture

BATCH = 100
"""Most items per request. Source: "Embeddings" of the Gemini API; other makers take more."""
PICTURES = 6
"""Most pictures per request. Source: "Gemini Embedding 2", technical specifications."""
PICTURE_BYTES = 12_000_000
"""Most bytes of pictures per request, which are a third more in base64; 20 MB are taken."""


async def embed_in_batches(
    model: str,
    items: Sequence[str | Picture],
    ask: Callable[[Sequence[str | Picture]], Awaitable[Embeddings]],
) -> Embeddings:
    """One vector per item, in order, from as many requests as needed; empty for no items.

    Raises:
        VrError: what `ask` raises, with what was paid until then.
    """
    whole = Embeddings(vectors=[], model=model)
    for batch in _batches(items):
        try:
            made = await ask(batch)
        except VrError as error:
            if whole.vectors:
                error.usage = whole.usage + (error.usage or Usage())
            raise
        whole.vectors += made.vectors
        whole.usage += made.usage
        whole.model = made.model
    return whole


def _batches(items: Sequence[str | Picture]) -> Iterator[Sequence[str | Picture]]:
    start = pictures = size = 0
    for place, item in enumerate(items):
        weight = 0 if isinstance(item, str) else len(item.data)
        full = weight and (pictures == PICTURES or size + weight > PICTURE_BYTES)
        if full or place - start == BATCH:
            yield items[start:place]
            start, pictures, size = place, 0, 0
        pictures, size = pictures + (weight > 0), size + weight
    if start < len(items):
        yield items[start:]
