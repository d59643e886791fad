"""The hooks: a tool, a command, an observer of calls, and the file that is open meanwhile."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

from vr_kernel import (
    CallFinished,
    Command,
    Provider,
    RequestFinished,
    SearchProvider,
    Services,
    hookimpl,
)

from vr_plugin_almanac.lookup import almanac_find
from vr_plugin_almanac.tracer import Tracer, call_span, request_span


@hookimpl
def vr_tools() -> list[Any]:
    """The look into the almanac; the front door offers it to its model."""
    return [almanac_find]


@hookimpl
def vr_providers() -> list[Provider[object]]:
    """The tracer, one for each kernel, and the search, made for each call."""
    return [
        Provider.own("vr_plugin_almanac.tracer:Tracer"),
        Provider(SearchProvider, "almanac", _search, of_call=True),
    ]


@hookimpl
def vr_commands() -> list[Command]:
    """The front door."""
    return [Command(("almanac", "ask"), "Ask about the year.", "vr_plugin_almanac.front:ask")]


@hookimpl
@asynccontextmanager
async def vr_lifespan(services: Services) -> AsyncIterator[None]:
    """Keep the file of spans open as long as the kernel works."""
    tracer = services.providers.get(Tracer)
    tracer.open()
    try:
        yield
    finally:
        tracer.close()


@hookimpl
def vr_call_finished(event: CallFinished, services: Services) -> None:
    """Write the span of a call or of a turn."""
    services.providers.get(Tracer).write(call_span(event))


@hookimpl
def vr_request_finished(event: RequestFinished, services: Services) -> None:
    """Write the span of an attempt to ask a model."""
    services.providers.get(Tracer).write(request_span(event))


def _search(services: Services) -> SearchProvider:
    from vr_plugin_almanac.search import AlmanacSearch

    return AlmanacSearch(services)
