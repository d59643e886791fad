"""Vectors of texts and pictures, in batches, at unit length."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.gemini.catalogue import KNOWN, VECTORS
from vr_kernel.gemini.errors import translated, unreadable
from vr_kernel.gemini.pool import Account, Pool
from vr_kernel.generation import Embeddings, Purpose, Usage
from vr_kernel.models.batches import embed_in_batches

if TYPE_CHECKING:
    from google.genai import types

    from vr_kernel.items.pictures import Picture

# How a model without task types is told what a text is for. Source: "Embeddings" of the Gemini API.
_WORDS = {"query": "task: search result | query: ", "document": "title: none | text: "}
PICTURES = ("image/png", "image/jpeg")
"""Types of picture that are embedded. Source: "Gemini Embedding 2", technical specifications."""
_TASKS = {"query": "RETRIEVAL_QUERY", "document": "RETRIEVAL_DOCUMENT"}


class GeminiEmbedder:
    """Asks for embeddings."""

    def __init__(self, pool: Pool, timeout_ms: Callable[[], int]) -> None:
        self._pool = pool
        self._timeout_ms = timeout_ms

    async def run(
        self, model: str, items: Sequence[str | Picture], purpose: Purpose, dimension: int | None
    ) -> Embeddings:
        """One vector an item.

        Raises:
            VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures that the model does not
                take; what the service says, with what was paid until then.
        """
        _require_taken(model, items)

        async def ask(batch: Sequence[str | Picture]) -> Embeddings:
            return await self._pool.run(model, partial(self._ask, model, batch, purpose, dimension))

        return await embed_in_batches(model, items, ask, VECTORS)

    async def _ask(
        self,
        model: str,
        items: Sequence[str | Picture],
        purpose: Purpose,
        dimension: int | None,
        account: Account,
    ) -> Embeddings:
        from google.genai import types

        words = model in KNOWN and KNOWN[model].words
        prefix = _WORDS[purpose] if words else ""
        # A list of plain texts would become a single vector.
        said = [types.Content(parts=[_part(prefix, item)]) for item in items]
        config = types.EmbedContentConfig(
            task_type=None if words else _TASKS[purpose],
            output_dimensionality=dimension,
            http_options=types.HttpOptions(timeout=self._timeout_ms()),
        )
        with translated(model, account.key):
            response = await account.client.aio.models.embed_content(
                model=model, contents=list(said), config=config
            )
            vectors = [_unit(embedding.values or []) for embedding in response.embeddings or []]
            paid = response.usage_metadata
            tokens = (paid.prompt_token_count if paid else 0) or 0
        if len(vectors) != len(items):
            raise unreadable(f"{len(vectors)} vectors for {len(items)} items")
        usage = Usage(calls=1, input_tokens=tokens)
        return Embeddings(vectors=vectors, model=model, usage=usage)


def _require_taken(model: str, items: Sequence[str | Picture]) -> None:
    from vr_kernel.items.acceptance import TEXT_ALONE, require_accepted

    require_accepted(model, KNOWN[model].info.accepts if model in KNOWN else TEXT_ALONE, items)
    for item in items:
        if not isinstance(item, str) and item.mime not in PICTURES:
            raise VrError(
                f"{model} does not take {item.mime}.",
                Code.UNSUPPORTED,
                category="MEDIA_UNSUPPORTED",
                hint="Give the picture as PNG or JPEG.",
            )


def _part(prefix: str, item: str | Picture) -> types.Part:
    from google.genai import types

    if isinstance(item, str):
        return types.Part(text=prefix + item)
    return types.Part(inline_data=types.Blob(data=item.data, mime_type=item.mime))


def _unit(vector: Sequence[float]) -> list[float]:
    """The vector at unit length; a shortened one of an older model arrives without."""
    length = math.sqrt(sum(value * value for value in vector))
    return [value / length for value in vector] if length else list(vector)
