"""Ollama keeps the contract of model providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from modelskit import provider_at
from vr_kernel import ModelProvider
from vr_testing import FakeOllama, ModelProviderContract, ModelWire, OllamaWire
from vr_testing.contracts.model import SAID, SECRET


class TestOllama(ModelProviderContract):
    model = "qwen3-vl:8b"
    embedding_model = "nomic-embed-text"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeOllama() as service:
            own = {"api_key": SECRET, "model": self.model}
            async with provider_at("ollama", service.url, **own) as provider:
                yield provider, OllamaWire(service)

    async def test_thoughts_are_paid_for_but_never_shown(self) -> None:
        """The server counts thoughts as a part of the answer; the words are without them."""
        async with self.opened() as (provider, wire):
            wire.answer(SAID, thought="First I wonder what a cat is.")
            reply = await provider.generate(self.model, self.request())
            assert (reply.text, reply.usage) == (SAID, wire.bill)
