"""Offers the renderer of views; it is imported when the first page is asked for."""

from __future__ import annotations

from typing import TYPE_CHECKING

from vr_kernel import Provider, Services, hookimpl

if TYPE_CHECKING:
    from vr_kernel.views import ViewRenderer


@hookimpl
def vr_providers() -> list[Provider[ViewRenderer]]:
    """The one renderer of this distribution."""
    return [Provider("ViewRenderer", "pages", _build, of_call=True)]


def _build(services: Services) -> ViewRenderer:
    from vr_pages.renderer import PageRenderer

    return PageRenderer(services)
