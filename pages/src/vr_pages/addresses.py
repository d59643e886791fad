"""Addresses that a page may open, and whether two of them lead to the same thing."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import parse_qsl, urlencode, urlsplit

from vr_kernel.views import is_web

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_TIMES = frozenset({"t", "start", "time_continue"})
"""Parts of an address that say at which second it opens."""


def opened(address: str) -> str:
    """The address that a link may have; empty for one that a page must not open.

    The web and files of this machine may be opened: no script, no file of another machine.
    """
    if is_web(address):
        return address.replace("\\", "%5C")  # a browser reads it as a slash, and goes elsewhere
    if address.startswith("file:///") and not address.startswith("file:////"):
        return address
    if _DRIVE.match(address):
        return PureWindowsPath(address).as_uri()
    is_path = address.startswith("/") and not address.startswith("//")
    return PurePosixPath(address).as_uri() if is_path else ""


def stem(address: str) -> str:
    """An address without the time at which it opens, to compare what it leads to."""
    parts = urlsplit(opened(address))
    pairs = parse_qsl(parts.query, keep_blank_values=True)
    query = urlencode([pair for pair in pairs if pair[0] not in _TIMES])
    return parts._replace(query=query, fragment="").geturl()
