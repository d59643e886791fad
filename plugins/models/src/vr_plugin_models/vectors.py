"""Vectors as the kernel wants them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def units(
    vectors: Sequence[Sequence[float]], count: int, dimension: int | None = None
) -> list[list[float]]:
    """The vectors, or their first numbers, with the length 1: one for each of `count` items.

    Raises:
        ValueError: for another number of them.
    """
    if len(vectors) != count:
        raise ValueError(f"{len(vectors)} vectors for {count} items")
    return [_unit(vector[:dimension]) for vector in vectors]


def _unit(vector: Sequence[float]) -> list[float]:
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
