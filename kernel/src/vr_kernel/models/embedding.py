"""Vectors from a model, paid for batch by batch."""

from __future__ import annotations

from collections.abc import Awaitable, Sequence
from functools import partial
from math import isfinite
from typing import TYPE_CHECKING

from vr_kernel.errors import VrError
from vr_kernel.generation import Embeddings, Purpose
from vr_kernel.items.acceptance import require_accepted
from vr_kernel.models.batches import embed_in_batches
from vr_kernel.models.fallback import may_others_answer
from vr_kernel.models.provided import ProvidedModel
from vr_kernel.models.provider import VectorInfo
from vr_kernel.models.recorder import UsageRecorder
from vr_kernel.models.retry import Retrier
from vr_kernel.spending.paid_requests import PaidRequest
from vr_kernel.spending.sizes import size_of_items

if TYPE_CHECKING:
    from vr_kernel.items.pictures import Picture


async def embed(
    models: Sequence[ProvidedModel],
    items: Sequence[str | Picture],
    purpose: Purpose,
    dimension: int | None,
    retrier: Retrier,
    recorder: UsageRecorder,
) -> Embeddings:
    """One vector per item, in order, all of the space of the first model.

    A batch that it does not embed is sent to the others that are the same model elsewhere, and to
    no other: vectors of two models cannot be compared.

    Raises:
        VrError: see `ModelProvider.embed`; UNSUPPORTED, category MEDIA_UNSUPPORTED, for pictures
            when the model takes texts alone.
    """
    first = models[0]
    require_accepted(first.name, first.known().accepts, items)
    same = [each for each in models if _is_same(each, first)]

    async def ask(batch: Sequence[str | Picture]) -> Embeddings:
        for model in same:
            try:
                with model.contained():
                    attempt = partial(recorder.attempt, _request(model, batch, purpose, dimension))
                    made = await retrier.run(model.name, attempt, room=recorder.room)
                    _require_sound(made.vectors, len(batch))
                    return made
            except VrError as error:
                if model is same[-1] or not may_others_answer(error):
                    raise
                _tell(recorder, f"{model.name} did not embed: {error.message}")
        raise AssertionError("a role has at least one model")

    made = await embed_in_batches(first.id, items, ask, _smallest(same))
    # Services write the name of a model in their own way; the space is that of the one asked for.
    return made.model_copy(update={"model": first.name})


def _request(
    model: ProvidedModel,
    batch: Sequence[str | Picture],
    purpose: Purpose,
    dimension: int | None,
) -> PaidRequest[Awaitable[Embeddings]]:
    return PaidRequest(
        model,
        "embed",
        lambda _allowed: model.provider.embed(model.id, batch, purpose, dimension),
        size=size_of_items(batch),
    )


def _is_same(one: ProvidedModel, other: ProvidedModel) -> bool:
    """True for one model at two providers, which may put its maker before its name."""
    if one.id.rpartition("/")[2].casefold() != other.id.rpartition("/")[2].casefold():
        return False
    return one.known().accepts == other.known().accepts


def _smallest(models: Sequence[ProvidedModel]) -> VectorInfo:
    """The size of a request that all of the models take."""
    limits = [model.known().vectors for model in models]
    tokens = [each.tokens for each in limits if each.tokens]
    return VectorInfo(
        items=min(each.items for each in limits),
        tokens=min(tokens, default=0),
    )


def _tell(recorder: UsageRecorder, note: str) -> None:
    if note not in recorder.meter.notes:
        recorder.meter.notes.append(note)


def _require_sound(vectors: Sequence[Sequence[float]], count: int) -> None:
    """Refuse what cannot be the vectors of so many items.

    Raises:
        ValueError: for another number of vectors, or for one that is empty or not finite.
    """
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} items")
    if not all(vector and all(map(isfinite, vector)) for vector in vectors):
        raise ValueError("a vector is empty, or has numbers that are not finite")
