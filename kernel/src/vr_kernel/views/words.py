"""Values as people read them: times, places, sizes, dates."""

from __future__ import annotations

import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import unquote, urlsplit

from vr_kernel.text.visible_text import visible, visible_line
from vr_kernel.views.links import Cell, Link

MINUTE_S, HOUR_S = 60, 3600
LONGEST_S = 10**9
"""Seconds from which on a time says nothing."""
KILO = 1000.0
DIGITS = 3
"""Most digits behind the point of a number."""
_INSTANT = re.compile(r"(\d{4}-\d\d-\d\d)T(\d\d:\d\d)(?::\d\d(?:\.\d+)?)?(?:Z|[+-]\d\d:\d\d)?")
_DAY = re.compile(r"(\d{4}-\d\d-\d\d)T00:00:00(?:\.0+)?(?:Z|\+00:00)")
"""A date without a time, as a record holds it."""
_WEB = ("http", "https")
_WEB_BEGIN = re.compile("https?://", re.IGNORECASE)


def clock(seconds: float) -> str:
    """A time as people write it: `1:33`, `1:02:33`."""
    whole = min(max(int(seconds), 0), LONGEST_S)
    hours, minutes = divmod(whole // MINUTE_S, MINUTE_S)
    rest = whole % MINUTE_S
    return f"{hours}:{minutes:02}:{rest:02}" if hours else f"{minutes}:{rest:02}"


def said(cell: Cell) -> str:
    """A value in words; empty for None."""
    if cell is None:
        return ""
    if isinstance(cell, Link):
        return link_words(cell)
    if isinstance(cell, bool):
        return "yes" if cell else "no"
    if isinstance(cell, float):
        return f"{cell:.{DIGITS}f}".rstrip("0").rstrip(".")
    return shown_instant(visible(str(cell)))


def link_words(place: Link) -> str:
    """A place in words: its label, time and page; without those, where its link leads."""
    parts = [visible_line(place.label)] if place.label else []
    if place.start is not None:
        until = f"-{clock(place.end)}" if place.end is not None and place.end > place.start else ""
        parts.append(f"{clock(place.start)}{until}")
    if place.page is not None:
        parts.append(f"page {place.page}")
    return ", ".join(parts) or shown_host(place.address)


def shown_host(link: str) -> str:
    """The host of a web address, or the name of a file."""
    address = visible_line(link)
    try:
        parts = urlsplit(address)
        host = parts.hostname or ""
    except ValueError:
        return address
    if parts.scheme in _WEB and host:
        return host.removeprefix("www.")
    path = unquote(parts.path) if parts.scheme == "file" else address
    windows = "\\" in path and "/" not in path
    return (PureWindowsPath(path) if windows else PurePosixPath(path)).name or address


def is_web(link: str) -> bool:
    """Check that an address leads into the web, and nowhere else."""
    try:
        return _WEB_BEGIN.match(link) is not None and bool(urlsplit(link).hostname)
    except ValueError:
        return False


def is_local_file(link: str) -> bool:
    """Check for the address of a file of this machine; to open one of another tells it who asks."""
    return link.startswith("file:///") and not link.startswith("file:////")


def shown_size(size: int) -> str:
    """A number of bytes: `38.2 MB`."""
    shown, unit = float(size), "bytes"
    for unit in ("bytes", "kB", "MB", "GB"):
        if shown < KILO or unit == "GB":
            break
        shown /= KILO
    return f"{size} bytes" if unit == "bytes" else f"{shown:.1f} {unit}"


def shown_instant(text: str) -> str:
    """A date and time without seconds, a date alone at midnight UTC; any other text as it is."""
    if day := _DAY.fullmatch(text):
        return day[1]
    found = _INSTANT.fullmatch(text)
    return f"{found[1]} {found[2]}" if found else text


def titled(name: str) -> str:
    """The name of a field or tool as a heading: `key_points` becomes `Key points`."""
    words = " ".join(visible(name).replace("_", " ").replace("-", " ").split())
    return words[:1].upper() + words[1:]
