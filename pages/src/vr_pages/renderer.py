"""The renderer of views that the kernel's `ViewRenderer` asks for."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING

from vr_kernel import VrError
from vr_kernel.views import Media, View

from vr_pages import sections
from vr_pages.album import ARTIFACT, collect
from vr_pages.document import document
from vr_pages.drawing import Drawing
from vr_pages.film.player import Player
from vr_pages.markup import Html

if TYPE_CHECKING:
    from vr_kernel import Services


class PageRenderer:
    """Shows views as HTML, with the pictures and files of a caller."""

    name = "pages"

    def __init__(self, services: Services) -> None:
        self._artifacts = services.artifacts

    async def fragment(self, view: View) -> str:
        """The view as HTML without a head, for a page that has the style sheet."""
        body, _ = await asyncio.to_thread(self._drawn, view, None)
        return str(body)

    async def page(self, view: View, folder: Path | None = None) -> str:
        """The view as one HTML file that needs no network.

        Args:
            view: what is shown.
            folder: where the file will lie: a film in it is found again after both were moved.
        """
        return await asyncio.to_thread(self._page, view, folder)

    def _page(self, view: View, folder: Path | None) -> str:
        body, drawing = self._drawn(view, folder)
        return document(view.title, body, drawing.brought, " ".join(drawing.played))

    def _drawn(self, view: View, folder: Path | None) -> tuple[Html, Drawing]:
        film = next((each for each in view.blocks if isinstance(each, Media)), None)
        player = Player.of(film, folder, view.source) if film else None
        played = dict.fromkeys(player.policy if player else ())
        album = collect(view, self._artifacts)
        drawing = Drawing(album, self._file, player, played=played, folder=folder)
        return sections.fragment(view, drawing), drawing

    def _file(self, address: str) -> str:
        """The address of an artifact as a file of this machine; empty for any other address."""
        if not address.startswith(ARTIFACT):
            return ""
        try:
            return self._artifacts.find(address.removeprefix(ARTIFACT)).path.as_uri()
        except (VrError, OSError):
            return ""
