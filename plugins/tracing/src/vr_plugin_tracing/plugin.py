"""Exports traces and metrics; while no address is set, nothing is imported and nobody listens."""

from __future__ import annotations

from contextlib import AbstractAsyncContextManager
from typing import Any

from vr_kernel import (
    CallFinished,
    Check,
    Provider,
    RequestFinished,
    Section,
    Services,
    hookimpl,
)

from vr_plugin_tracing.settings import TracingSettings


@hookimpl
def vr_settings() -> type[Section]:
    """The section `[plugins.tracing]`."""
    return TracingSettings


@hookimpl
def vr_active(settings: TracingSettings) -> bool:
    """Listen only when there is a place to send spans to."""
    return settings.on


@hookimpl
def vr_providers() -> list[Provider[Any]]:
    """The tracer, one for each kernel."""
    return [Provider.own("vr_plugin_tracing.tracer:CallTracer")]


@hookimpl
def vr_lifespan(services: Services) -> AbstractAsyncContextManager[None]:
    """Send spans in the background as long as the kernel works."""
    from vr_plugin_tracing.tracer import CallTracer

    return services.providers.get(CallTracer).opened()


@hookimpl
def vr_call_finished(event: CallFinished, services: Services) -> None:
    """Record a call or a turn."""
    from vr_plugin_tracing.tracer import CallTracer

    services.providers.get(CallTracer).record_call(event)


@hookimpl
def vr_request_finished(event: RequestFinished, services: Services) -> None:
    """Record an attempt to ask a model."""
    from vr_plugin_tracing.tracer import CallTracer

    services.providers.get(CallTracer).record_request(event)


@hookimpl
def vr_health(services: Services) -> list[Check]:
    """One check for each address, or that there is none."""
    from vr_plugin_tracing.health import tracing_checks

    return tracing_checks(services)
