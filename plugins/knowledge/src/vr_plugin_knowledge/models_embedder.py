"""Vectors from a language-model service, instead of a model on this machine."""

from __future__ import annotations

from collections.abc import Sequence
from copy import copy
from typing import TYPE_CHECKING

from vr_kernel import Code, Picture, Services, VrError, estimate_tokens

if TYPE_CHECKING:
    from vr_kernel import Models, Purpose

LONGEST_CHARS = 8000
"""About 2,000 tokens of a text; the rest of it is left out."""
FILLED = 0.9
"""Part of a model's window that a text may fill; its prefix and marks have the rest."""
NOTHING = "-"
"""Replaces a text without visible characters: services refuse to embed an empty text."""


class ModelsEmbedder:
    """An `Embedder` that asks the model of the role `embedding`, through the kernel.

    Its `id` names provider, model and length: vectors of different ones are never compared.

    Args:
        services: whose access to models retries, and records what was paid.
        dimension: length of the vectors of a model that shortens its own, or whose own is unknown.

    Raises:
        VrError: AUTH when a key is missing; UNAVAILABLE when no model serves the role.
    """

    def __init__(self, services: Services, dimension: int) -> None:
        self.models = services.models
        self._model = self.models.names("embedding")[0]
        info = self.models.info("embedding")
        own = info.vectors.dimension
        is_shortened = info.vectors.shortens and dimension < own
        self.dimension = dimension if is_shortened or not own else own
        self._asked = dimension if is_shortened else None
        self._window = info.context
        self.batch = info.vectors.items
        self._other_lengths: set[int] = set()
        self.id = f"{self._model}@{self.dimension}"
        self.accepts = info.accepts & {"text", "image"}

    def of_call(self, models: Models) -> ModelsEmbedder:
        """The same embedder, which spends on behalf of a call."""
        bound = copy(self)
        bound.models = models
        return bound

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> list[list[float]]:
        """One unit-length vector an item, in order.

        Raises:
            VrError: what the service says; CONFLICT, category EMBEDDER_CHANGED, when the role
                has another model by now; UNAVAILABLE when vectors have another length.
        """
        if not items:
            return []
        self._require_same_model()
        self._require_length()
        short = [self._within_limit(item) for item in items]
        made = await self.models.embed(short, purpose, dimension=self._asked)
        self._other_lengths |= {len(vector) for vector in made.vectors} - {self.dimension}
        self._require_length()
        return made.vectors

    def _require_same_model(self) -> None:
        now = self.models.names("embedding")[0]
        if now != self._model:
            raise VrError(
                f"Items are embedded by {now} now; the store's vectors are of {self.id}.",
                Code.CONFLICT,
                category="EMBEDDER_CHANGED",
                hint="Restart the program; then all of them are embedded again.",
            )

    def _require_length(self) -> None:
        # Found once and kept: further requests would be paid for in vain.
        if self._other_lengths:
            length = max(self._other_lengths)
            raise VrError(
                f"The vectors of {self._model} have {length} numbers, not {self.dimension}.",
                Code.UNAVAILABLE,
                category="EMBEDDER_CHANGED",
                hint=f"Set embedding_dimension = {length} in [plugins.knowledge], and"
                " restart the program.",
            )

    def _within_limit(self, item: str | Picture) -> str | Picture:
        if isinstance(item, Picture):
            return item
        text = item[:LONGEST_CHARS]
        room, tokens = int(self._window * FILLED), estimate_tokens(text)
        if 0 < room < tokens:
            text = text[: len(text) * room // tokens]
        return text if text.strip() else NOTHING


def build_embedder(services: Services) -> ModelsEmbedder:
    """The embedder of a kernel."""
    return ModelsEmbedder(services, services.settings.embedding_dimension)
