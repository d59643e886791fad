"""Addresses and paths as a terminal shows and opens them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

from vr_kernel import visible_line
from vr_kernel.views import is_local_file, is_web

_SAFE = "/:?#@!$&'*+,;=%~-._[]()"


def opened(link: str) -> str:
    """An address that opens by a click, in signs that no terminal obeys; empty for none."""
    address = visible_line(link)
    if not is_address(address):
        path = Path(address)
        if not path.is_absolute() or address.startswith("//"):
            return ""
        address = path.as_uri()
    return quote(address, safe=_SAFE)


def is_address(text: str) -> bool:
    """Check for the address of a page of the web, or of a file of this machine."""
    return is_web(text) or is_local_file(text)


def short_path(text: str) -> str:
    """A path from the current folder or the home folder, where it lies below one."""
    if not text.startswith("/"):
        return text
    path = Path(text)
    for folder, before in ((Path.cwd(), ""), (Path.home(), "~/")):
        if path != folder and folder != Path("/") and path.is_relative_to(folder):
            return f"{before}{path.relative_to(folder)}"
    return text
