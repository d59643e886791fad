"""The store and the embedder of the kit keep what every store and embedder keeps."""

from __future__ import annotations

from typing import ClassVar

from vr_testing import EmbedderContract, StoreContract


class TestMemoryStore(StoreContract):
    plugins: ClassVar = {}
    provider = "memory"
    durable = False


class TestWordEmbedder(EmbedderContract):
    plugins: ClassVar = {}
    provider = "words"
