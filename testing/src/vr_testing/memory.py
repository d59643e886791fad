"""A plugin whose store and embedder live in memory: what `open_kernel` works with."""

from __future__ import annotations

from typing import Any

from vr_kernel.hookspecs import hookimpl
from vr_kernel.providers import Embedder, Provider
from vr_kernel.stores import Store

from vr_testing.memory_store import MemoryStore
from vr_testing.words import WordEmbedder

STORE = MemoryStore.name
EMBEDDER = "words"


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """Both, each new with its kernel."""
    return [
        Provider(Store, STORE, lambda services: MemoryStore(services.vectors)),
        Provider(Embedder, EMBEDDER, lambda _services: WordEmbedder()),
    ]
