"""The provider: one worker thread embeds texts by turns, questions before documents."""

from __future__ import annotations

import asyncio
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING

from vr_embedder_minilm.checksums import MODEL_FOLDER

if TYPE_CHECKING:
    from vr_kernel import Picture, Purpose

    from vr_embedder_minilm.encoder import Encoder

TURN = 4
"""Texts of a document run that are encoded before a waiting question gets its turn."""


class MiniLmEmbedder:
    """all-MiniLM-L6-v2 for texts; the model is loaded with the first one.

    One worker thread holds the model, so that a cancelled call leaves nothing half-used and
    waiting calls occupy no thread. Of all document runs only one has a turn in its queue: a
    question waits for one turn at most.
    """

    id = "all-MiniLM-L6-v2-int8"
    dimension = 384
    accepts = frozenset({"text"})

    def __init__(self, *, threads: int = 2, folder: Path = MODEL_FOLDER) -> None:
        self._threads = threads
        self._folder = folder
        self._encoder: Encoder | None = None
        self._worker = ThreadPoolExecutor(max_workers=1, thread_name_prefix="minilm")
        self._documents = asyncio.Lock()

    async def embed(self, items: Sequence[str | Picture], purpose: Purpose) -> list[list[float]]:
        """One unit-length vector a text, in order; equal texts have equal vectors.

        A text counts up to 256 tokens. Documents and questions share one space.

        Raises:
            VrError: UNAVAILABLE when the model is damaged or a library is missing.
        """
        from vr_kernel import texts_of

        vectors: list[list[float]] = []
        texts = texts_of(self.id, items)
        for start in range(0, len(texts), TURN):
            turn = texts[start : start + TURN]
            if purpose == "query":
                vectors += await self._take(turn)
            else:
                async with self._documents:
                    vectors += await self._take(turn)
        return vectors

    async def aclose(self) -> None:
        """Let go of the worker and the model."""
        self._worker.shutdown(wait=False, cancel_futures=True)
        self._encoder = None

    async def _take(self, texts: Sequence[str]) -> list[list[float]]:
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._worker, self._encode, texts)

    def _encode(self, texts: Sequence[str]) -> list[list[float]]:
        from vr_embedder_minilm.encoder import Encoder

        if self._encoder is None:
            self._encoder = Encoder(self._folder, self._threads)
        return [self._encoder.encode(text) for text in texts]
