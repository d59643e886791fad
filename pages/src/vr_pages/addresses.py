"""Addresses that a page may open, and whether two of them lead to the same thing."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath

from vr_kernel.views import is_local_file, is_web

_DRIVE = re.compile(r"[A-Za-z]:[\\/]")
_TIME = re.compile(r"(?<=[?&])(?:t|start|time_continue)=[^&]*&?")
"""The part of an address that says at which second it opens."""


def opened(address: str) -> str:
    """The address that a link may have; empty for one that a page must not open.

    The web and files of this machine may be opened: no script, no file of another machine.
    """
    if is_web(address):
        return address.replace("\\", "%5C")  # a browser reads it as a slash, and goes elsewhere
    if is_local_file(address):
        return address
    if _DRIVE.match(address):
        return PureWindowsPath(address).as_uri()
    is_path = address.startswith("/") and not address.startswith("//")
    return PurePosixPath(address).as_uri() if is_path else ""


def stem(address: str) -> str:
    """An address without the time at which it opens, to compare what it leads to."""
    return _TIME.sub("", opened(address).partition("#")[0]).rstrip("?&")
