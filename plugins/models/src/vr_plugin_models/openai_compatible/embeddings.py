"""Vectors from OpenAI-compatible services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from vr_kernel import Embeddings, Picture, Purpose, Usage, estimate_tokens, texts_of

from vr_plugin_models.catalogue.embedding_models import prefix_of
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
    *,
    takes_dimensions: bool,
) -> Embeddings:
    """One vector an item, of unit length, in one request.

    Args:
        client: of the service.
        model: that embeds.
        items: as many as a request takes.
        purpose: of the vectors.
        dimension: their length; None for the model's own.
        takes_dimensions: whether the service is told; else the vectors are cut here.
    """
    prefix = prefix_of(model, purpose)
    texts = [f"{prefix}{text}" for text in texts_of(model, items)]
    more: dict[str, Any] = {"dimensions": dimension} if dimension and takes_dimensions else {}
    answer = await client.embeddings.create(
        model=model, input=texts, encoding_format="float", **more
    )
    found = sorted(answer.data, key=lambda each: each.index)
    counted = count_of(getattr(answer.usage, "prompt_tokens", None))
    tokens = sum(map(estimate_tokens, texts)) if counted is None else counted
    return Embeddings(
        vectors=units([each.embedding for each in found], len(items), dimension),
        model=answer.model or model,
        usage=Usage(calls=1, input_tokens=tokens),
    )
