"""Every hook a plugin may implement. Arguments are passed by name and only ever added."""

from __future__ import annotations

from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING, Any

import pluggy

if TYPE_CHECKING:
    from contextlib import AbstractAsyncContextManager

    from pydantic import BaseModel

    from vr_kernel.commands import Command
    from vr_kernel.events import CallFinished, RequestFinished
    from vr_kernel.health import Check
    from vr_kernel.providers import Provider
    from vr_kernel.records import RecordKind
    from vr_kernel.services import Services

PROJECT = "vr"
hookspec = pluggy.HookspecMarker(PROJECT)
hookimpl = pluggy.HookimplMarker(PROJECT)


@hookspec
def vr_settings() -> type[BaseModel]:  # type: ignore[empty-body]  # a specification has no body
    """The model of the plugin's own configuration section, `[plugins.NAME]`."""


@hookspec
def vr_active(settings: Any) -> bool:  # type: ignore[empty-body]
    """Says by its settings whether the plugin works unasked: opens its lifespan, hears events."""


@hookspec
def vr_tools() -> list[Callable[..., Any]]:  # type: ignore[empty-body]
    """Functions decorated with `@tool`."""


@hookspec
def vr_prompts() -> list[Callable[..., Any]]:  # type: ignore[empty-body]
    """Functions decorated with `@prompt`."""


@hookspec
def vr_resources() -> list[Callable[..., Any]]:  # type: ignore[empty-body]
    """Functions decorated with `@resource`."""


@hookspec
def vr_record_kinds() -> list[RecordKind]:  # type: ignore[empty-body]
    """Record kinds that the domain stores: fields, types, and which are searched or embedded."""


@hookspec
def vr_providers() -> list[Provider[Any]]:  # type: ignore[empty-body]
    """Named implementations of kernel protocols, by which plugins serve each other."""


@hookspec
def vr_commands() -> list[Command]:  # type: ignore[empty-body]
    """Commands of `vr` that are no tools; their code is imported when they run."""


@hookspec
def vr_views() -> list[Callable[..., Any]]:  # type: ignore[empty-body]
    """Functions decorated with `@view`; asked for when the first view is needed."""


@hookspec
def vr_lifespan(services: Services) -> AbstractAsyncContextManager[Any] | None:
    """Opens what the plugin needs before its first work, and closes it with the kernel."""


@hookspec
def vr_call_finished(event: CallFinished, services: Services) -> Awaitable[None] | None:
    """Called after each call of a tool has ended; awaited under a time limit. May be async."""


@hookspec
def vr_request_finished(event: RequestFinished, services: Services) -> Awaitable[None] | None:
    """Called after each attempt to ask a model, in the background. May be async."""


@hookspec
def vr_health(services: Services) -> list[Check]:  # type: ignore[empty-body]
    """Checks of this plugin for `vr doctor`; `vr init` offers to run the remedies they name."""
