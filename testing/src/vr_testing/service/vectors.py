"""Vectors without a model: unit vectors made from the hashes of a text's words."""

from __future__ import annotations

import hashlib
import math
import re

_SPOTS = 8
"""Number of components that each word changes."""


def vector(text: str, dimension: int) -> list[float]:
    """The vector of a text: the same each time, and near to those of texts that share words."""
    components = [0.0] * dimension
    for word in re.findall(r"\w+", text.lower()):
        _add(components, word, 1.0)
    # Texts of the same words in another order are near, but not equal.
    _add(components, f"whole text: {text}", 0.1)
    length = math.sqrt(sum(value * value for value in components)) or 1.0
    return [value / length for value in components]


def _add(components: list[float], seed: str, weight: float) -> None:
    digest = hashlib.sha256(seed.encode()).digest()
    for spot in range(_SPOTS):
        number = int.from_bytes(digest[spot * 4 : spot * 4 + 4], "big")
        components[(number >> 1) % len(components)] += weight if number & 1 else -weight
