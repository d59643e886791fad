"""Addresses that a document may open, in signs that every reader of documents takes."""

from __future__ import annotations

import re
from urllib.parse import quote

from vr_kernel import visible_line
from vr_kernel.views import is_local_file, is_web

LONGEST = 2_000
"""Longest address that leads anywhere; Word takes no longer ones."""
_SAFE = "/:?#@!$&'*+,;=~-._%()"
_BARE_PERCENT = re.compile(r"%(?![0-9A-Fa-f]{2})")


def web_address(link: str) -> str:
    """The address of a page of the web or of a file of this machine; empty for any other."""
    address = visible_line(link)
    if not (is_web(address) or is_local_file(address)) or len(address) > LONGEST:
        return ""
    return _BARE_PERCENT.sub("%25", quote(address, safe=_SAFE, errors="replace"))
