"""Anthropic keeps the contract of model providers."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest
from modelskit import provider_at
from vr_kernel import ModelProvider
from vr_testing import AnthropicWire, FakeAnthropic, ModelProviderContract, ModelWire
from vr_testing.contracts.model import SECRET

pytest.importorskip("anthropic")


class TestAnthropic(ModelProviderContract):
    model = "claude-sonnet-5-5"
    embeds = False

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeAnthropic() as service:
            async with provider_at("anthropic", service.url, api_key=SECRET) as provider:
                yield provider, AnthropicWire(service)


class TestModelWithoutSchemas(ModelProviderContract):
    """A compatible service whose model neither thinks nor takes a schema."""

    model = "own-claude"
    embeds = False

    @asynccontextmanager
    async def opened(self) -> AsyncIterator[tuple[ModelProvider, ModelWire]]:
        with FakeAnthropic() as service:
            service.native_schema = service.thinks = False
            own = {"api_key": SECRET, "model": self.model}
            async with provider_at("anthropic_compatible", service.url, **own) as provider:
                yield provider, AnthropicWire(service)
