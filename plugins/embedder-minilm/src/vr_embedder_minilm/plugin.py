"""Offers the embedder `minilm`; the model is loaded when the first text is embedded."""

from __future__ import annotations

from vr_kernel import Embedder, Provider, Section, Services, hookimpl

from vr_embedder_minilm.embedder import MiniLmEmbedder
from vr_embedder_minilm.settings import EmbedderSettings


@hookimpl
def vr_settings() -> type[Section]:
    """The section `[plugins.embedder-minilm]`."""
    return EmbedderSettings


@hookimpl
def vr_providers() -> list[Provider[Embedder]]:
    """The one embedder of this distribution."""
    return [Provider(Embedder, "minilm", _build)]


def _build(services: Services) -> Embedder:
    settings: EmbedderSettings = services.settings
    return MiniLmEmbedder(threads=settings.threads)
