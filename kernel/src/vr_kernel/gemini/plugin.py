"""Gemini as a plugin: the provider of models that comes with the kernel, and its checks."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, cast

from vr_kernel.health import Check
from vr_kernel.hookspecs import hookimpl
from vr_kernel.models.provider import ModelProvider
from vr_kernel.providers import Provider
from vr_kernel.services import Services

if TYPE_CHECKING:
    from vr_kernel.models.models import LanguageModels

PREFERRED = 100
"""Gemini is asked before other providers, where configuration does not say."""


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The Gemini models, the first provider of models."""
    return [Provider(ModelProvider, "gemini", lambda services: services.gemini.models, PREFERRED)]


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """The checks of its keys and its address."""
    from vr_kernel.gemini.health import gemini_checks

    models = cast("LanguageModels", services.models)
    return gemini_checks(models.roles)
