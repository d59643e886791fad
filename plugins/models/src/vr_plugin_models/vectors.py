"""Vectors as the kernel wants them."""

from __future__ import annotations

import math
from collections.abc import Sequence


def unit(vector: Sequence[float]) -> list[float]:
    """The vector with the length 1."""
    length = math.sqrt(sum(value * value for value in vector)) or 1.0
    return [value / length for value in vector]
