"""Kernels with the providers of this plugin, at fake services."""

from __future__ import annotations

from collections.abc import AsyncIterator, Mapping
from contextlib import asynccontextmanager

from vr_kernel import ModelProvider
from vr_plugin_models import plugin
from vr_testing import open_kernel


@asynccontextmanager
async def provider_at(name: str, url: str, **settings: object) -> AsyncIterator[ModelProvider]:
    """A provider of the plugin, whose address is that of a fake service."""
    given: Mapping[str, object] = {
        "kernel.http.allowed_hosts": [url.split("/")[2]],
        f"plugins.models.{name}_base_url": url,
        **{f"plugins.models.{name}_{key}": value for key, value in settings.items()},
    }
    async with open_kernel({"models": plugin}, settings=given) as kernel:
        yield kernel.services.providers.get(ModelProvider, name)
