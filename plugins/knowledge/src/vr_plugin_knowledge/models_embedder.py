"""Vectors from a language-model service, instead of a model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

from vr_kernel import Code, Picture, Services, VrError

if TYPE_CHECKING:
    from vr_kernel import Embeddings, Purpose

LONGEST_CHARS = 8000
"""About 2,000 tokens, the limit of `gemini-embedding-001`; the rest of a text is left out."""
NOTHING = "-"
"""Replaces a text without visible characters: the service refuses to embed an empty text."""


class ModelsEmbedder:
    """An `Embedder` that asks the model of the role `embedding`, through the kernel.

    Args:
        services: whose access to models retries, and records what was paid.
        dimension: length of the vectors.

    Raises:
        VrError: AUTH when a key is missing; UNAVAILABLE when no model serves the role.
    """

    def __init__(self, services: Services, dimension: int) -> None:
        self._models = services.models
        self._model = self._models.names("embedding")[0]
        self.dimension = dimension
        self.id = f"{self._model}@{dimension}"
        self.accepts = self._models.info("embedding").accepts & {"text", "image"}

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> list[list[float]]:
        """One unit-length vector an item, in order.

        Raises:
            VrError: what the service says; CONFLICT, category EMBEDDER_CHANGED, when the role
                has another model by now.
        """
        if not items:
            return []
        short = [_within_limit(item) for item in items]
        made = await self._models.embed(short, purpose, dimension=self.dimension)
        self._require_same(made)
        return made.vectors

    def _require_same(self, made: Embeddings) -> None:
        lengths = {len(vector) for vector in made.vectors}
        if made.model == self._model and lengths == {self.dimension}:
            return
        raise VrError(
            f"Items are embedded by {made.model} now, at length {max(lengths)}; the store's"
            f" vectors are of {self.id}.",
            Code.CONFLICT,
            category="EMBEDDER_CHANGED",
            hint="Restart the program; then all of them are embedded again.",
        )


def _within_limit(item: str | Picture) -> str | Picture:
    if isinstance(item, Picture):
        return item
    return item[:LONGEST_CHARS] if item.strip() else NOTHING


def build_embedder(services: Services) -> ModelsEmbedder:
    """The embedder of a kernel."""
    return ModelsEmbedder(services, services.settings.embedding_dimension)
