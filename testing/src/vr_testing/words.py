"""An embedder by words, without their meaning: texts that share words are near."""

from __future__ import annotations

import hashlib
import math
import re
import unicodedata
from collections.abc import Sequence

from vr_kernel import Picture, Purpose, texts_of

DIMENSION = 64
_WORD = re.compile(r"\w+")


def words_of(text: str) -> list[str]:
    """The words of a text in order, ignoring case and Unicode normalization."""
    return _WORD.findall(unicodedata.normalize("NFC", text).casefold())


class WordEmbedder:
    """An `Embedder` that needs no model and gives the same vectors on every machine.

    Each word has a direction of its own, by its SHA-512; a text is the sum of its words. A text
    without words has a direction, too.
    """

    id = "words-1"
    dimension = DIMENSION
    accepts = frozenset({"text"})

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> list[list[float]]:  # noqa: ARG002 - of the protocol
        """One unit-length vector per text, in order."""
        return [_vector(words_of(text) or [""]) for text in texts_of(self.id, items)]


def _vector(words: Sequence[str]) -> list[float]:
    total = [0.0] * DIMENSION
    for word in words:
        for place, value in enumerate(hashlib.sha512(word.encode("utf-8", "replace")).digest()):
            total[place] += value - 127.5
    length = math.hypot(*total)
    return [value / length for value in total]
