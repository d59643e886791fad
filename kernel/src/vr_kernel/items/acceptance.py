"""Acceptance of items: nobody who takes texts alone is handed a picture."""

from __future__ import annotations

import math
from collections.abc import Collection, Sequence
from typing import TYPE_CHECKING

from vr_kernel.errors import Code, VrError
from vr_kernel.items.pictures import Picture

if TYPE_CHECKING:
    from vr_kernel.providers import Reranker

TEXT_ALONE = frozenset({"text"})


def accepted_by(provider: object) -> frozenset[str]:
    """Return the kinds of item that a provider takes; one that does not say takes texts."""
    return frozenset(getattr(provider, "accepts", TEXT_ALONE))


def require_accepted(name: str, accepts: Collection[str], items: Sequence[str | Picture]) -> None:
    """Refuse items that a provider or model does not take.

    Raises:
        VrError: UNSUPPORTED, category MEDIA_UNSUPPORTED, naming it; INVALID_INPUT for an item that
            is neither a text nor a `Picture`.
    """
    for item in items:
        if not isinstance(item, str | Picture):
            raise VrError(f"A {type(item).__name__} is no text and no Picture.", Code.INVALID_INPUT)
        kind = "text" if isinstance(item, str) else "image"
        if kind not in accepts:
            raise VrError(
                f"{name} does not take {'texts' if kind == 'text' else 'pictures'}.",
                Code.UNSUPPORTED,
                category="MEDIA_UNSUPPORTED",
                hint=f"It takes {', '.join(sorted(accepts))}. Choose one that takes {kind}, or"
                " describe the picture in words.",
            )


def texts_of(name: str, items: Sequence[str | Picture]) -> list[str]:
    """Return the items of a provider that takes texts alone, however it was called.

    Raises:
        VrError: as `require_accepted`.
    """
    require_accepted(name, TEXT_ALONE, items)
    return [item for item in items if isinstance(item, str)]


async def rerank(reranker: Reranker, query: str, items: Sequence[str | Picture]) -> list[float]:
    """Score items by a reranker: finite numbers, one an item, in order, higher is better.

    Raises:
        VrError: as `require_accepted`, before the reranker is asked; UNAVAILABLE, category
            REPLY_INVALID, when it gives anything else; what it raises.
    """
    require_accepted(reranker.name, accepted_by(reranker), items)
    scores = [float(score) for score in await reranker.rerank(query, items)]
    if len(scores) != len(items) or not all(map(math.isfinite, scores)):
        raise VrError(
            f"{reranker.name} did not score each item.", Code.UNAVAILABLE, category="REPLY_INVALID"
        )
    return scores
