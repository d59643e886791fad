"""The protocol of what shows views as HTML; the distribution `vr-pages` has one."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from pathlib import Path

    from vr_kernel.views.model import View


class ViewRenderer(Protocol):
    """Shows views as HTML. Ask for it by `services.providers.get(ViewRenderer)`."""

    name: str

    async def fragment(self, view: View) -> str:
        """The view as HTML without a head, for a page that has the style sheet."""

    async def page(self, view: View, folder: Path | None = None) -> str:
        """The view as one HTML file that needs no network.

        Args:
            view: what is shown.
            folder: where the file will lie: a film in it is found again after both were moved.
        """
