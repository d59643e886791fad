"""Vectors of items, each computed once: the table that keeps them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Protocol

from vr_kernel.generation import Purpose

QUESTIONS = 1000
"""Number of the latest question vectors that are kept, for all embedders together."""


class VectorTable(Protocol):
    """Vectors in their stored form, by purpose, embedder and digest of the item.

    Every method raises `VrError` UNAVAILABLE when the table cannot be read or written.
    """

    async def known(
        self, purpose: Purpose, embedder: str, digests: Collection[str], size: int
    ) -> dict[str, bytes]:
        """Find the vectors of these digests; those without one are left out.

        Args:
            purpose: of the vectors; documents and questions never mix.
            embedder: the id of the embedder that made them.
            digests: of the items.
            size: bytes of a sound vector; others are left out.
        """

    async def keep(self, purpose: Purpose, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by digest, in place of former ones.

        Those of documents were paid for and are held in memory while there is no room for them. Of
        questions, which only save time, the latest `QUESTIONS` are kept.
        """

    def close(self) -> None:
        """Give back what is open; a later use opens it again."""
