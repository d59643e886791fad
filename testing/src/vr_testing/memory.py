"""A plugin whose store and embedder live in memory, used by `open_kernel`."""

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
    """Store and embedder, new for each kernel."""
    return [
        Provider(Store, STORE, lambda services: MemoryStore(services.vectors)),
        Provider(Embedder, EMBEDDER, lambda _services: WordEmbedder()),
    ]
