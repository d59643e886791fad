"""Vectors of items in the memory of one process."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from vr_kernel import Purpose
from vr_kernel.state.vectors import QUESTIONS


class MemoryVectors:
    """The vectors of one process; see `vr_kernel.state.VectorTable`."""

    def __init__(self) -> None:
        self._kept: dict[Purpose, dict[tuple[str, str], bytes]] = {"document": {}, "query": {}}

    async def known(
        self, purpose: Purpose, embedder: str, digests: Collection[str], size: int
    ) -> dict[str, bytes]:
        """Find the vectors of these digests; those without one are left out."""
        kept = self._kept[purpose]
        found = {it: kept[embedder, it] for it in digests if (embedder, it) in kept}
        return {digest: vector for digest, vector in found.items() if len(vector) == size}

    async def keep(self, purpose: Purpose, embedder: str, vectors: Mapping[str, bytes]) -> None:
        """Keep vectors by digest, in place of former ones."""
        kept = self._kept[purpose]
        for digest, vector in vectors.items():
            kept.pop((embedder, digest), None)
            kept[embedder, digest] = vector
        while purpose == "query" and len(kept) > QUESTIONS:
            del kept[next(iter(kept))]

    def close(self) -> None:
        """Do nothing: what is kept stays."""
