"""Vectors from a model, paid for batch by batch."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from vr_kernel.generation import Embeddings, Purpose
from vr_kernel.items.acceptance import require_accepted
from vr_kernel.models.batches import embed_in_batches
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.models.recorder import UsageRecorder
from vr_kernel.models.retry import Retrier
from vr_kernel.spending.paid_requests import PaidRequest
from vr_kernel.spending.sizes import size_of_items

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture


async def embed(
    model: ProvidedModel,
    items: Sequence[str | Picture],
    purpose: Purpose,
    dimension: int | None,
    retrier: Retrier,
    recorder: UsageRecorder,
) -> Embeddings:
    """One vector per item, in order.

    Raises:
        VrError: see `ModelProvider.embed`; UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures
            when the model takes texts alone.
    """
    require_accepted(model.name, model.known().accepts, items)

    async def ask(batch: Sequence[str | Picture]) -> Embeddings:
        paid = PaidRequest(
            model,
            "embed",
            lambda _allowed: model.provider.embed(model.id, batch, purpose, dimension),
            size=size_of_items(batch),
        )
        attempt = partial(recorder.attempt, paid)
        with model.contained():
            made = await retrier.run(model.name, attempt, room=recorder.room)
            _require_sound(made.vectors, len(batch))
            return made

    made = await embed_in_batches(model.id, items, ask)
    return made.model_copy(update={"model": f"{model.provider.name}/{made.model}"})


def _require_sound(vectors: Sequence[Sequence[float]], count: int) -> None:
    """Refuse what cannot be the vectors of so many items.

    Raises:
        ValueError: for another number of vectors, or for one that is empty or not finite.
    """
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} items")
    if not all(vector and all(map(isfinite, vector)) for vector in vectors):
        raise ValueError("a vector is empty, or has numbers that are not finite")
