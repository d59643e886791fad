"""Gemini keeps the contract of model providers."""

from __future__ import annotations

import tempfile
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path

from gemini_service import MODEL, gemini_at
from vr_kernel.models.provider import ModelProvider
from vr_testing import FakeGemini, GeminiWire, ModelProviderContract, ModelWire
from vr_testing.contracts.model import SECRET


class TestGeminiModels(ModelProviderContract):
    model = MODEL
    embedding_model = "gemini-embedding-2"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeGemini() as fake, tempfile.TemporaryDirectory() as folder:
            async with gemini_at(fake.url, Path(folder), gemini_api_keys=[SECRET]) as gemini:
                yield gemini.models, GeminiWire(fake)
