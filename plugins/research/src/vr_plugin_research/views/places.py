"""Places in sources: the addresses that open them there, and links with their names."""

from __future__ import annotations

import math
import re
from pathlib import PurePosixPath, PureWindowsPath
from urllib.parse import parse_qs, urlsplit

from vr_kernel import visible_line
from vr_kernel.views import Link, Quote, is_local_file, is_web, shown_host, titled

from vr_plugin_research.results.claims import Citation
from vr_plugin_research.results.sources import ReportSource

TITLE_CHARS = 40
"""Longest title of a source, and longest place, beside a quote."""
MOST_PLACE = 1e9
"""Last second and page that there may be."""
_AT_YOUTUBE = {"youtube.com", "youtube-nocookie.com", "youtu.be"}
_VIDEO_ID = re.compile(r"[A-Za-z0-9_-]{11}")


def address_of(source: str) -> str:
    """Return what opens a source; empty for a text, a record and anything else."""
    if is_web(source) or is_local_file(source):
        return source
    for kind in (PurePosixPath, PureWindowsPath):
        if kind(source).is_absolute() and not source.startswith(("//", "\\\\")):
            return kind(source).as_uri()
    return ""


def opened_at(address: str, page: int | None, start: float | None) -> str:
    """Return the address that opens a source at a page or at a second."""
    if address and start is not None:
        video = _youtube_id(address)
        if video:
            return f"https://www.youtube.com/watch?v={video}&t={int(start)}s"
        return address if "#" in address else f"{address}#t={int(start)}"
    if address and page is not None and "#" not in address:
        return f"{address}#page={page}"
    return address


def title_of(source: ReportSource) -> str:
    """The title of a source; without one its host or file, or what kind of source it is."""
    if source.title.strip():
        return source.title
    address = address_of(source.source)
    return shown_host(address) if address else titled(source.kind)


def name_of(source: ReportSource | None, number: int) -> str:
    """A source as a quote names it: its number and the beginning of its title."""
    title = visible_line(title_of(source), TITLE_CHARS) if source else ""
    return f"S{number} {title}".strip()


def place_of(citation: Citation, source: ReportSource | None) -> Link:
    """The place of a quote, which opens its source there."""
    page, start = _page(citation), _second(citation)
    known = address_of(citation.link) or (address_of(source.source) if source else "")
    name = name_of(source, citation.source)
    place = _shortened(citation.place, title_of(source) if source else "")
    if place and page is None and start is None:
        name = f"{name}, {place}"
    return Link(opened_at(known, page, start), name, start, page=page)


def quote_of(citation: Citation, source: ReportSource | None) -> Quote:
    """The words of a source with their place, and what became of looking them up."""
    moved = citation.status == "moved" and citation.original_place
    note = f"Moved to where it was found; {citation.original_place} was given." if moved else ""
    return Quote(citation.quote, place_of(citation, source), citation.status, note)


def _shortened(place: str, title: str) -> str:
    """A place without the title that stands beside it; the end, which is the nearest, is kept."""
    plain = visible_line(place)
    if plain != title:
        plain = plain.removeprefix(f"{title}, ")
    return plain if len(plain) <= TITLE_CHARS else f"…{plain[1 - TITLE_CHARS :]}"


def _page(citation: Citation) -> int | None:
    page = citation.page
    return page if page is not None and 0 < page <= MOST_PLACE else None


def _second(citation: Citation) -> float | None:
    start = citation.start
    is_time = start is not None and math.isfinite(start) and 0 <= start <= MOST_PLACE
    return start if is_time else None


def _youtube_id(address: str) -> str:
    """The id of a video at YouTube; empty for any other address."""
    try:
        parts = urlsplit(address)
        host = (parts.hostname or "").removeprefix("www.").removeprefix("m.")
    except ValueError:
        return ""
    if host not in _AT_YOUTUBE:
        return ""
    steps = [step for step in parts.path.split("/") if step]
    named = parse_qs(parts.query).get("v", []) or steps[-1:]
    return next((each for each in named if _VIDEO_ID.fullmatch(each)), "")
