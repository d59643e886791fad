"""OpenAI-compatible services keep the contract of model providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from modelskit import provider_at
from vr_kernel import ModelProvider
from vr_testing import FakeOpenAI, ModelProviderContract, ModelWire, OpenAIWire
from vr_testing.contracts.model import SECRET


class TestOpenAI(ModelProviderContract):
    model = "gpt-6.1-terra"
    embedding_model = "text-embedding-3-small"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeOpenAI() as service:
            async with provider_at("openai", service.url, api_key=SECRET) as provider:
                yield provider, OpenAIWire(service)


class TestServiceWithoutSchemasOrTools(ModelProviderContract):
    """A service that takes neither schemas nor tools, and a model that sees nothing."""

    model = "own-model"
    takes_images = False
    embedding_model = "own-embedding"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeOpenAI() as service:
            service.native_schema = service.takes_images = False
            service.refused = {"max_tokens", "reasoning_effort"}
            own = {"api_key": SECRET, "model": self.model}
            async with provider_at("openai_compatible", service.url, **own) as provider:
                yield provider, OpenAIWire(service)


class TestAzure(ModelProviderContract):
    model = "gpt-6.1-terra"
    embedding_model = "text-embedding-3-small"

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeOpenAI() as service:
            address = service.url.removesuffix("/v1")
            own = {"api_key": SECRET, "model": self.model}
            async with provider_at("azure_openai", address, **own) as provider:
                yield provider, OpenAIWire(service)
