"""Vectors from OpenAI-compatible services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import Embeddings, Picture, Purpose, Usage, estimate_tokens, texts_of

from vr_plugin_models.catalogue.known_models import prefix_of
from vr_plugin_models.outcomes import count_of
from vr_plugin_models.vectors import units

if TYPE_CHECKING:
    from openai import AsyncOpenAI


async def embed(
    client: AsyncOpenAI,
    model: str,
    items: Sequence[str | Picture],
    purpose: Purpose,
    dimension: int | None,
) -> Embeddings:
    """One vector an item, of unit length, in one request."""
    prefix = prefix_of(model, purpose)
    texts = [f"{prefix}{text}" for text in texts_of(model, items)]
    more: dict[str, Any] = {} if dimension is None else {"dimensions": dimension}
    answer = await client.embeddings.create(
        model=model, input=texts, encoding_format="float", **more
    )
    found = sorted(answer.data, key=lambda each: each.index)
    counted = count_of(getattr(answer.usage, "prompt_tokens", None))
    tokens = sum(map(estimate_tokens, texts)) if counted is None else counted
    return Embeddings(
        vectors=units([each.embedding for each in found], len(items)),
        model=answer.model or model,
        usage=Usage(calls=1, input_tokens=tokens),
    )
