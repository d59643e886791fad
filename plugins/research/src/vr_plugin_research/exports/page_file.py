"""A report as a page: one file that needs no network."""

from __future__ import annotations

from pathlib import Path

from vr_kernel import Services
from vr_kernel.views import View, ViewRenderer


async def page_of(services: Services, view: View) -> bytes:
    """The view of a report as a page.

    Raises:
        VrError: UNAVAILABLE when nothing that makes pages is installed.
    """
    renderer = services.providers.get(ViewRenderer)
    page = await renderer.page(view, Path(services.artifacts.folder))
    return page.encode("utf-8", "replace")
