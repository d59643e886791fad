"""Offers the providers of language models; a client library is imported at the first request."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from importlib import import_module
from typing import Any

from vr_kernel import ModelProvider, Provider, Section, Services, hookimpl

from vr_plugin_models.catalogue.provider_row import Family, ProviderRow
from vr_plugin_models.catalogue.providers import PROVIDERS
from vr_plugin_models.settings import section

CLASSES: Mapping[Family, str] = {
    "openai": "vr_plugin_models.openai_compatible.provider:OpenAIModels",
    "azure": "vr_plugin_models.openai_compatible.provider:OpenAIModels",
    "anthropic": "vr_plugin_models.anthropic.provider:AnthropicModels",
    "ollama": "vr_plugin_models.ollama.provider:OllamaModels",
}
"""The class of each family."""
FIRST = 90
"""Preference of the first row; the kernel's Gemini has 100."""


@hookimpl
def vr_settings() -> type[Section]:
    """The section `[plugins.models]`."""
    return section()


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The providers, in the order of the table."""
    return [
        Provider(ModelProvider, row.name, _factory(row), FIRST - place, keys=_keys(row))
        for place, row in enumerate(PROVIDERS)
    ]


def _keys(row: ProviderRow) -> tuple[str, ...]:
    """The settings that take requests somewhere; an own key would go to a foreign address."""
    address = f"{row.name}_base_url"
    return (address,) if row.local else (f"{row.name}_api_key", address)


def _factory(row: ProviderRow) -> Callable[[Services], ModelProvider]:
    return partial(_make, row)


def _make(row: ProviderRow, services: Services) -> ModelProvider:
    from vr_plugin_models.endpoint import Endpoint

    module, _, name = CLASSES[row.family].partition(":")
    made: ModelProvider = getattr(import_module(module), name)(Endpoint(row, services))
    return made
