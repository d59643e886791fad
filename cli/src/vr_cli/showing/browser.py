"""Opens pages in a browser, where there is one."""

from __future__ import annotations

import os
import re
import sys
from collections.abc import Mapping
from pathlib import Path

from vr_kernel import Code, Services, View, ViewRenderer, VrError
from vr_kernel.views import Facts, Link, Media

NAME_CHARS = 60
_REMOTE = ("SSH_CONNECTION", "SSH_CLIENT", "SSH_TTY")
_SCREENS = ("DISPLAY", "WAYLAND_DISPLAY", "BROWSER")


def renderer_of(services: Services) -> ViewRenderer:
    """Return what writes pages.

    Raises:
        VrError: UNAVAILABLE when nothing does.
    """
    try:
        return services.providers.get(ViewRenderer)
    except VrError as error:
        if "vr-pages" in error.hint:
            raise
        hint = "Pages are written by vr-pages: pip install vr-pages"
        raise VrError("No page can be made here.", Code.UNAVAILABLE, hint=hint) from error


def readable_name(title: str) -> str:
    """A name of a file, made of a title: `vector-search-in-practice`."""
    words = "-".join(re.findall(r"\w+", title.lower()))
    return words[:NAME_CHARS].strip("-_") or "result"


def moment_of(view: View) -> float:
    """The second that a view is about: of its film, or of the place of a record; 0 for none."""
    begins = (block.start for block in view.blocks if isinstance(block, Media))
    facts = (cell for block in view.blocks if isinstance(block, Facts) for _, cell in block.rows)
    places = (cell.start for cell in facts if isinstance(cell, Link))
    return next((start for start in (*begins, *places) if start), 0.0)


def open_page(page: Path, moment: float, environ: Mapping[str, str] = os.environ) -> bool:
    """Open a page in the browser at a moment; False where there is none, or over SSH."""
    remote = any(environ.get(name) for name in _REMOTE)
    screen = sys.platform in ("win32", "darwin") or any(environ.get(name) for name in _SCREENS)
    if remote or not screen:
        return False
    import webbrowser

    try:
        return webbrowser.open(f"{page.as_uri()}{f'#t={moment:g}' if moment else ''}")
    except (OSError, webbrowser.Error):
        return False
