"""Embeddings of many items, requested in batches."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Iterator, Sequence
from typing import TYPE_CHECKING, NamedTuple

from vr_kernel.errors import VrError
from vr_kernel.generation import Embeddings, Usage
from vr_kernel.models.provider import VectorInfo
from vr_kernel.text.tokens import estimate_tokens

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture

FILLED = 0.8
"""Part of the most tokens to which a request is filled: they are estimated."""
PICTURES = 6
"""Most pictures per request. Source: "Gemini Embedding 2", technical specifications."""
PICTURE_BYTES = 12_000_000
"""Most bytes of pictures per request, which are a third more in base64; 20 MB are taken."""


async def embed_in_batches(
    model: str,
    items: Sequence[str | Picture],
    ask: Callable[[Sequence[str | Picture]], Awaitable[Embeddings]],
    limits: VectorInfo,
) -> Embeddings:
    """One vector per item, in order, from as many requests as needed; empty for no items.

    Raises:
        VrError: what `ask` raises, with what was paid until then.
    """
    whole = Embeddings(vectors=[], model=model)
    for batch in _batches(items, limits):
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


def _batches(
    items: Sequence[str | Picture], limits: VectorInfo
) -> Iterator[Sequence[str | Picture]]:
    start, filled = 0, _Filled()
    for place, item in enumerate(items):
        grown = filled.with_item(item, counted=bool(limits.tokens))
        if place > start and grown.exceeds(limits):
            yield items[start:place]
            start, grown = place, _Filled().with_item(item, counted=bool(limits.tokens))
        filled = grown
    if start < len(items):
        yield items[start:]


class _Filled(NamedTuple):
    """The contents of a request."""

    items: int = 0
    tokens: int = 0
    pictures: int = 0
    size: int = 0

    def with_item(self, item: str | Picture, *, counted: bool) -> _Filled:
        """The contents with one more item; tokens are estimated when they count."""
        items, tokens, pictures, size = self
        if isinstance(item, str):
            return _Filled(
                items + 1, tokens + (estimate_tokens(item) if counted else 0), pictures, size
            )
        return _Filled(items + 1, tokens, pictures + 1, size + len(item.data))

    def exceeds(self, limits: VectorInfo) -> bool:
        """True when that is more than one request takes."""
        return (
            self.items > limits.items
            or (limits.tokens > 0 and self.tokens > limits.tokens * FILLED)
            or self.pictures > PICTURES
            or self.size > PICTURE_BYTES
        )
