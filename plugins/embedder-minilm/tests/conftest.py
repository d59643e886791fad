from __future__ import annotations

from collections.abc import AsyncIterator

import pytest
from vr_embedder_minilm.checksums import MODEL_FOLDER
from vr_embedder_minilm.embedder import MiniLmEmbedder
from vr_embedder_minilm.encoder import Encoder


@pytest.fixture
async def minilm() -> AsyncIterator[MiniLmEmbedder]:
    embedder = MiniLmEmbedder()
    yield embedder
    await embedder.aclose()


@pytest.fixture(scope="session")
def encoder() -> Encoder:
    return Encoder(MODEL_FOLDER, threads=2)
