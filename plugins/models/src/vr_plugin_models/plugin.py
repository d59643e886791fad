"""Offers the providers of language models; a client library is imported at the first request."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from vr_kernel import ModelProvider, Provider, Section, Services, hookimpl

from vr_plugin_models.catalogue.providers import PROVIDERS, ProviderRow
from vr_plugin_models.settings import section

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
    return () if row.local else (f"{row.name}_api_key",)


def _factory(row: ProviderRow) -> Callable[[Services], ModelProvider]:
    return partial(_make, row)


def _make(row: ProviderRow, services: Services) -> ModelProvider:
    from vr_plugin_models.endpoint import Endpoint
    from vr_plugin_models.openai_compatible.provider import OpenAIModels

    return OpenAIModels(Endpoint(row, services))
